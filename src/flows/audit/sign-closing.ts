import { enrolled } from "../../judge/keys.ts";
import { quoteLine } from "../../model/printable.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { type Signing, signMove } from "../trust/sign.ts";
import { keysInForce } from "./older-keys.ts";

/**
 * Anybody could move the branch while it was open, so a human sees what came in and types the branch's name
 * before a key signs it.
 */
export async function signClosing(
  hands: Hands,
  site: Site,
  { branch, ...move }: { branch: string; ref: string; old: string; new: string; uid: string | undefined },
  signWith: string | undefined,
): Promise<Signing> {
  if (!enrolled(await keysInForce(hands, site, move.ref, move.old)))
    return signMove(hands, site, move, signWith);
  const commits = await (await hands.git.audits()).history(site, { tip: move.new, without: [move.old] });
  const [from, to] = [move.old.slice(0, 12), move.new.slice(0, 12)];
  hands.say(`${branch} went from ${from} to ${to}. To read all of it: git diff ${from} ${to}`);
  for (const one of commits)
    hands.say(`  ${one.id.slice(0, 12)} ${quoteLine(one.author, 40)} ${quoteLine(one.subject, 100)}`);
  const typed = await hands.ask(`Type ${branch} to sign ${plural(commits.length, "commit")}: `);
  if (typed?.trim() === branch) return signMove(hands, site, move, signWith);
  hands.say(`Not signed, so nothing explains it yet. To sign it later: pawl unlock ${branch} --accept`);
  return { uid: move.uid, signatures: [] };
}
