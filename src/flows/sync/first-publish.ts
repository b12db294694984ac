import { plainAddress } from "../../model/remote-address.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { StateExchange } from "../../ports/state-exchange.ts";
import { confirmTyped } from "../human-only.ts";

/** What a push of the state makes readable, and for whom. */
export async function outline(hands: Hands, git: StateExchange, remote: string): Promise<string> {
  const { tasks, notes } = await hands.look((reader) => ({
    tasks: reader.taskNames().length,
    notes: reader.noteNames().length,
  }));
  const what = [plural(tasks, "task"), ...(notes > 0 ? [plural(notes, "note")] : [])].join(" and ");
  return `${what} with findings, evidence, saved diffs of unmerged work and who did what, as the branch pawl/state of ${plainAddress(await git.address(remote))}`;
}

/** Nobody can take back what was published, so the first time it is said and, on a terminal, asked. */
export async function tellFirstPublish(hands: Hands, git: StateExchange, remote: string): Promise<void> {
  const address = await git.address(remote);
  hands.say(`This publishes ${await outline(hands, git, remote)}.`);
  hands.say(
    /^(?:https?:\/\/|git@|ssh:\/\/)?(?:[^@/]*@)?(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)\b/.test(
      address,
    )
      ? "Everybody who can read that repository can read all of it; if it is public, that is everybody."
      : "Everybody who can read that repository can read all of it.",
  );
  if ((await hands.ask("")) === undefined) return;
  await confirmTyped(hands, "Type yes to publish it: ", "yes");
}
