import { refOfBranch } from "../../model/naming.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";

const SHOWN = 8;

/**
 * Uncommitted files in the main checkout of a protected branch, where nobody should work: not a move, but
 * worth a note.
 */
export async function tellUncommitted(
  hands: Hands,
  site: Site,
  isProtected: (ref: string) => boolean,
): Promise<string[]> {
  const checkout = await (await hands.git.rescues()).look(site);
  if (!checkout?.branch || !isProtected(refOfBranch(checkout.branch))) return [];
  const { noted, tracked, root, branch } = checkout;
  const files = noted.length > 0 ? noted : tracked;
  if (files.length === 0) return [];
  const shown = files.slice(0, SHOWN).join(", ") + (files.length > SHOWN ? " …" : "");
  const what = `${plural(files.length, "file")} of ${branch} changed and not committed in ${root}: ${shown}.`;
  return noted.length > 0
    ? [`${what} An agent's commands did that; \`pawl rescue\` moves them into a task's worktree.`]
    : [`${what} If an agent did that, \`pawl rescue\` moves them into a task's worktree.`];
}
