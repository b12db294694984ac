import { Failure } from "../../model/failure.ts";
import { plainAddress } from "../../model/remote-address.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { StateExchange } from "../../ports/state-exchange.ts";
import { confirmTyped, leaving, refuseAgents } from "../human-only.ts";

/** What a push of the state makes readable, and for whom. */
export async function outline(hands: Hands, git: StateExchange, remote: string): Promise<string> {
  const { tasks, notes } = await hands.look((reader) => ({
    tasks: reader.taskNames().length,
    notes: reader.noteNames().length,
  }));
  const what = [plural(tasks, "task"), ...(notes > 0 ? [plural(notes, "note")] : [])].join(" and ");
  return `${what} with findings, evidence, saved diffs of unmerged work and who did what, as the branch pawl/state of ${plainAddress(await git.address(remote))}`;
}

/**
 * What was published cannot be taken back, so the first time a human is asked: on a terminal, or by the
 * flag that answers in advance.
 */
export async function agreeToPublish(
  hands: Hands,
  git: StateExchange,
  remote: string,
  agreed: boolean,
): Promise<void> {
  await refuseAgents(hands, "publish the records of this project for the first time");
  const address = await git.address(remote);
  hands.say(`This publishes ${await outline(hands, git, remote)}.`);
  hands.say(
    /^(?:https?:\/\/|git@|ssh:\/\/)?(?:[^@/]*@)?(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)\b/.test(
      address,
    )
      ? "Everybody who can read that repository can read all of it; if it is public, that is everybody."
      : "Everybody who can read that repository can read all of it.",
  );
  if (agreed) return git.holdBack(false);
  if ((await hands.ask("")) === undefined)
    throw new Failure(
      "refused",
      "publishing_not_agreed",
      `This clone's records were never published to ${remote}, and there is no terminal to ask whether they should be.`,
      {
        hint: "Run `pawl sync` in a terminal, or agree in advance: pawl sync --yes",
        details: { remote },
      },
    );
  // A no is kept: that somebody else has published theirs meanwhile is no yes to ours.
  git.holdBack(true);
  const asked = confirmTyped(hands, "Type yes to publish it: ", "yes");
  await leaving(asked, "nothing was published. To go on: pawl sync");
  git.holdBack(false);
}
