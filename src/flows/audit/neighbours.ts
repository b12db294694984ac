import { mustSign } from "../../judge/keys.ts";
import type { Audits, Branching, BranchTip } from "../../ports/audits.ts";
import { keyTextsAt } from "../trust/read-keys.ts";
import { enrolledTogether } from "./enrolled-together.ts";
import { recordedRefs } from "./one-baseline.ts";
import { withoutRemoved } from "./removed-keys.ts";
import type { Subject } from "./subject.ts";

/** All branches of a repository, and those that existed when the guard was installed. */
export interface Neighbours {
  all: readonly BranchTip[];
  older: readonly BranchTip[];
}

/**
 * Every later branch starts from an older one. Records say which ones are older, but anybody can write or
 * delete records. So where the default branch requires signatures, it alone counts as older; another branch
 * joins it only if the first key was enrolled on both at once.
 */
export async function neighboursOf(
  audits: Audits,
  subject: Subject,
  { branches, base }: Pick<Branching, "branches" | "base">,
): Promise<Neighbours> {
  const { site } = subject;
  const recorded = recordedRefs(subject);
  const older = branches.filter((one) => recorded.has(one.ref));
  const first = branches.find((one) => one.ref === base);
  if (!first || !mustSign(await subject.readKeys(await keyTextsAt(audits, site, first.tip))))
    return { all: branches, older };
  const proven = [first];
  for (const one of older.filter((each) => each !== first)) {
    const ids = await audits.ids(site, { tip: one.tip, without: [] });
    const line = new Map(ids.map((id, place) => [id, place]));
    const checkSignature = await withoutRemoved(audits, subject, one.ref, line, [first]);
    if (await enrolledTogether(audits, { ...subject, checkSignature }, one.ref, line, [first]))
      proven.push(one);
  }
  return { all: branches, older: proven };
}
