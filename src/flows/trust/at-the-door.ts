import { mustSign } from "../../judge/keys.ts";
import type { Statement, Target } from "../../model/statement.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { expectTerminal } from "../human-only.ts";
import { protectedKeys } from "./change-approvers.ts";
import { signOne } from "./sign.ts";

interface Door {
  /** What is signed, for the protected branches that want it. */
  statement(record: string, repos: Target[]): Statement;
  what: string;
}

/**
 * What loosens and leaves no move of a branch behind, such as an uninstallation: where a protected branch wants decisions
 * signed, a human signs it before anything is done.
 */
export async function signAtTheDoor(
  hands: Hands,
  site: Site,
  { statement, what }: Door,
  keyFile: string | undefined,
): Promise<void> {
  const branches = (await protectedKeys(hands, site)).filter((one) => mustSign(one.keys));
  if (branches.length === 0) return;
  await expectTerminal(hands);
  const keys = branches.map((one) => one.keys);
  const repos = branches.map((one) => ({ id: one.keys.id, ref: one.ref }));
  const level = keys.some((one) => one.level === "present") ? "present" : "possession";
  const record = (await hands.signatures()).newId();
  await signOne(hands, { statement: statement(record, repos), level, keys, what }, keyFile);
}
