import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Candidate } from "./approve-candidate.ts";

/** What fits on a screen is read; a longer diff is asked for. */
const A_SCREEN = 60;
const MOST_LINES = 20_000;

/**
 * The change itself. Every line of it stands behind a bar, so that no file can look like a line of ours.
 */
export async function showDiff(hands: Hands, { task, repos }: Candidate, whole: boolean): Promise<void> {
  const targets = await hands.git.targets();
  for (const { site, name, base, head } of repos) {
    const lines = (await targets.patch(site, base, head)).split("\n");
    if (lines.at(-1) === "") lines.pop();
    if (lines.length > A_SCREEN && !whole) {
      hands.say(
        `\nThe diff of ${name} has ${plural(lines.length, "line")}: pawl diff ${task.id}, or approve with --diff`,
      );
      continue;
    }
    hands.say(`\nThe diff of ${name}:`);
    for (const line of lines.slice(0, MOST_LINES)) hands.say(`  | ${line}`);
    if (lines.length > MOST_LINES)
      hands.say(`  … and ${plural(lines.length - MOST_LINES, "line")} more: pawl diff ${task.id}`);
  }
}
