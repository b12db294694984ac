import { doubtsAbout, isJudgedPath, type RecordDoubt } from "../../judge/gates/integrity.ts";
import { recordTexts } from "../../judge/record-texts.ts";
import type { Hands } from "../../ports/hands.ts";

/** The records as a whole, where somebody took their branch back: what is gone then has taken its events along. */
export async function findTakenBack(hands: Hands): Promise<RecordDoubt[]> {
  if ((await hands.git.lostRecords()) === undefined) return [];
  return [{ path: "pawl/state", record: "pawl/state", why: "taken back", actor: undefined }];
}

/** Everything in the whole state that the log does not bear out. */
export async function findDoubts(hands: Hands): Promise<RecordDoubt[]> {
  const { texts, events } = await hands.look((reader) => ({
    texts: reader
      .taskNames()
      .filter((name) => /^T\d{4,}$/.test(name))
      .flatMap((task) => recordTexts(reader, task)),
    events: reader.events({ limit: Number.POSITIVE_INFINITY, about: isJudgedPath }),
  }));
  const records = await Promise.all(
    texts.map(async ({ path, text }) => ({ path, text: await hands.sha256(text) })),
  );
  return withoutNew(hands, doubtsAbout(events, records));
}

/** What somebody wrote between the look at the records and the look at the log is there, and not missing. */
export const withoutNew = (hands: Hands, doubts: readonly RecordDoubt[]): Promise<RecordDoubt[]> =>
  hands.look((reader) =>
    doubts.filter((one) => one.why !== "missing" || reader.fileText(one.path) === undefined),
  );
