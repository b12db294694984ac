import { doubtsAbout, isJudgedPath, type RecordDoubt } from "../../judge/gates/integrity.ts";
import { recordTexts } from "../../judge/record-texts.ts";
import type { Hands } from "../../ports/hands.ts";

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
  return doubtsAbout(events, records);
}
