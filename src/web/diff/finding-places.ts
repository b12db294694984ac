import { createHash } from "node:crypto";
import type { Finding } from "../../model/records/parts.ts";
import type { SavedFile } from "./saved-diff.ts";

export interface FindingPlaces {
  /** Keyed by the line of the new file that they are shown below. */
  below: Map<number, Finding[]>;
  /** Those whose line is not in the diff or has changed. */
  elsewhere: Finding[];
}

/** Where each finding of a file belongs: below the line that it was about, wherever that has moved to. */
export function placesOf(findings: readonly Finding[], file: SavedFile): FindingPlaces {
  const below = new Map<number, Finding[]>();
  const elsewhere: Finding[] = [];
  const lines = new Map(
    findings.length === 0
      ? []
      : file.hunks.flatMap((hunk) =>
          hunk.rows.flatMap((row): [number, string][] =>
            row.new === undefined ? [] : [[row.new, row.text]],
          ),
        ),
  );
  for (const one of findings) {
    const line = lineNow(one, lines);
    if (line === undefined) elsewhere.push(one);
    else below.set(line, [...(below.get(line) ?? []), one]);
  }
  return { below, elsewhere };
}

/** The line with the same text, the nearest of several; by its number alone where nobody knows what it said. */
function lineNow(
  { line, line_sha256: wanted }: Finding,
  lines: ReadonlyMap<number, string>,
): number | undefined {
  if (line === undefined) return undefined;
  const isIt = (at: number) => {
    const text = lines.get(at);
    return text !== undefined && (wanted === undefined || sha256(text) === wanted);
  };
  if (isIt(line)) return line;
  if (wanted === undefined) return undefined;
  return [...lines.keys()]
    .filter(isIt)
    .toSorted((one, other) => Math.abs(one - line) - Math.abs(other - line))[0];
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
