import { fold, printable } from "../../model/printable.ts";
import { plural, type Style } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Body } from "../../ports/operation.ts";
import type { Candidate, CandidateRepo } from "./approve-candidate.ts";

/** What fits on a screen is read; a longer diff is asked for. */
const A_SCREEN = 60;
const MOST_LINES = 20_000;

/**
 * The change itself. Every line of it stands behind a bar, so that no file can look like a line of ours.
 */
export async function showDiff(hands: Hands, { task, repos }: Candidate, whole: boolean): Promise<void> {
  for (const repo of repos) {
    const lines = await linesOf(hands, repo);
    if (lines.length > A_SCREEN && !whole) {
      hands.say(`\nThe diff of ${repo.name} has ${plural(lines.length, "line")}; press d to see it.`);
      continue;
    }
    hands.say(`\nThe diff of ${repo.name}:`);
    for (const line of lines.slice(0, MOST_LINES)) hands.say(fold(barred(line), FURTHER));
    if (lines.length > MOST_LINES)
      hands.say(`  … and ${plural(lines.length - MOST_LINES, "line")} more: pawl diff ${task.id}`);
  }
}

/** All of it for a pager, in colours of ours alone. */
export const wholeDiff = (hands: Hands, { repos }: Candidate): Body =>
  async function* body({ style }) {
    const encoder = new TextEncoder();
    for (const repo of repos) {
      yield encoder.encode(`${style.bold(`The diff of ${repo.name}:`)}\n`);
      for (const line of await linesOf(hands, repo)) {
        const paint = paintOf(line, style);
        for (const row of fold(printable(barred(line)), FURTHER).split("\n"))
          yield encoder.encode(`${paint(row)}\n`);
      }
    }
  };

async function linesOf(hands: Hands, { site, base, head }: CandidateRepo): Promise<string[]> {
  const lines = (await (await hands.git.targets()).patch(site, base, head)).split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** What the rest of a long line stands behind. */
const FURTHER = "  : ";

/** Strips colours that the lines themselves contain. */
const barred = (line: string) => `  | ${line.replaceAll("\u001b", "\ufffd")}`;

function paintOf(line: string, style: Style): (text: string) => string {
  if (line.startsWith("+")) return style.green;
  if (line.startsWith("-")) return style.red;
  return line.startsWith("@@ ") ? style.cyan : (text) => text;
}
