import { getRun } from "../../judge/current-run.ts";
import { refOfBranch } from "../../model/naming.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Upstream } from "../../ports/remotes.ts";
import type { Site } from "../../ports/sites.ts";
import { fetchBases } from "./approve-candidate.ts";

interface Base {
  name: string;
  site: Site;
  branch: string;
  upstream: Upstream | undefined;
}

/**
 * Asks the remotes of a task's bases, and answers which of them have commits that the base lacks. One that has commits
 * of its own as well is nobody's to bring forward.
 */
export async function findBehind(hands: Hands, task: string): Promise<Base[]> {
  const { value } = await hands.look((reader) => getRun(reader, task));
  const [sites, remotes] = [await hands.git.sites(), await hands.git.remotes()];
  const bases: Base[] = [];
  for (const { name, base_branch } of value.repos) {
    const site = sites.named(name);
    bases.push({ name, site, branch: base_branch, upstream: await remotes.remoteOf(site, base_branch) });
  }
  await fetchBases(hands, bases);
  const behind: Base[] = [];
  for (const base of bases) if ((await missing(hands, base)) > 0) behind.push(base);
  return behind;
}

async function missing(hands: Hands, { site, branch, upstream }: Base): Promise<number> {
  const targets = await hands.git.targets();
  const own = await targets.tip(site, refOfBranch(branch));
  const theirs = upstream && (await targets.tip(site, upstream.tracking));
  if (!own || !theirs) return 0;
  const { left, right } = await targets.apart(site, own, theirs);
  return left > 0 ? 0 : right;
}

/** What `git pull --ff-only` would do, for a human who is there and would be asked to do just that. */
export async function catchUp(hands: Hands, behind: readonly Base[]): Promise<void> {
  const targets = await hands.git.targets();
  for (const base of behind) {
    const { name, site, branch, upstream } = base;
    if (!upstream) continue;
    const count = await missing(hands, base);
    hands.say(
      `${name}: ${plural(count, "commit")} of ${upstream.remote}/${upstream.ref} brought into ${branch}`,
    );
    await targets.follow(site, branch, upstream.tracking);
  }
}
