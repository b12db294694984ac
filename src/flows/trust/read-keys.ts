import type { Keys } from "../../judge/keys.ts";
import { APPROVERS_FILE, type Approvers } from "../../model/approvers.ts";
import type { Config } from "../../model/config.ts";
import { Failure } from "../../model/failure.ts";
import { isNothing } from "../../model/naming.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import type { Audits } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";

/** The two files that say who decides; undefined where a tree has none. */
export interface KeyTexts {
  policy: string | undefined;
  approvers: string | undefined;
}

export const NO_TEXTS: KeyTexts = { policy: undefined, approvers: undefined };

export async function keyTextsAt(audits: Audits, site: Site, commit: string): Promise<KeyTexts> {
  if (isNothing(commit)) return NO_TEXTS;
  return {
    policy: await audits.fileAt(site, commit, POLICY_FILE),
    approvers: await audits.fileAt(site, commit, APPROVERS_FILE),
  };
}

/** Who may decide, as the tree of this commit says it. */
export async function keysAt(hands: Hands, site: Site, commit: string): Promise<Keys> {
  return readKeys(hands, await keyTextsAt(await hands.git.audits(), site, commit));
}

/** What these texts mean. A policy that cannot be read demands what the strictest one would. */
export async function readKeys(hands: Hands, { policy, approvers }: KeyTexts): Promise<Keys> {
  const config = await perhaps<Config>(policy, (text) =>
    hands.look((reader) => reader.config(POLICY_FILE, text)),
  );
  const list = await perhaps<Approvers>(approvers, (text) =>
    hands.look((reader) => reader.approvers(APPROVERS_FILE, text)),
  );
  const known = list === "broken" ? undefined : list;
  const rules =
    config === "broken" ? STRICTEST : { approvals: "terminal" as const, level: "present" as const };
  const { approvals, level } = config === "broken" || config === undefined ? rules : config;
  const remotes = config === "broken" ? [] : (config?.remotes ?? []);
  return {
    id: known?.repository ?? "",
    approvers: known?.approvers ?? [],
    broken: list === "broken" || known?.approvers.length === 0,
    unreadable: config === "broken",
    signed: approvals === "signed",
    level,
    guarded: new Set(remotes.filter((one) => one.guarded).map((one) => one.name)),
    digests: { policy: await digest(hands, policy), approvers: await digest(hands, approvers) },
  };
}

const STRICTEST = { approvals: "signed", level: "present" } as const;

const digest = async (hands: Hands, text: string | undefined) =>
  text === undefined ? "" : hands.sha256(text);

async function perhaps<T>(
  text: string | undefined,
  read: (text: string) => Promise<T>,
): Promise<T | undefined | "broken"> {
  if (text === undefined) return undefined;
  try {
    return await read(text);
  } catch (error) {
    if (error instanceof Failure) return "broken";
    throw error;
  }
}
