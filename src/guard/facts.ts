import { join, resolve } from "node:path";
import { namesIfPresent, textIfPresent } from "../files/read.ts";
import { unsupportedFormat } from "../git/format.ts";
import { hooksDir, readStamps } from "../git/guard-files.ts";
import { Failure } from "../model/failure.ts";
import { type GuardPolicy, strictest } from "../model/guard-policy.ts";
import { branchOfRef, matchesPattern } from "../model/naming.ts";
import type { Loosening } from "../ports/guard.ts";
import { readBefore } from "./before.ts";
import { readMade } from "./made-policy.ts";
import { canRun, isOurs } from "./place.ts";
import { branchTips, type GuardedSite, line, type PolicyInForce, readPolicyInForce } from "./policy.ts";
import { readSettings, type Settings } from "./settings.ts";

/** Every hook that git knows; only those that another tool or the user really has get a shim. */
const HOOKS = [
  "applypatch-msg",
  "pre-applypatch",
  "post-applypatch",
  "pre-commit",
  "pre-merge-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "pre-rebase",
  "post-checkout",
  "post-merge",
  "pre-push",
  "pre-receive",
  "update",
  "proc-receive",
  "post-receive",
  "post-update",
  "reference-transaction",
  "push-to-checkout",
  "pre-auto-gc",
  "post-rewrite",
  "sendemail-validate",
  "fsmonitor-watchman",
  "p4-changelist",
  "p4-prepare-changelist",
  "p4-post-changelist",
  "p4-pre-submit",
  "post-index-change",
];

/** What there is before we act; taken under the guard's lock. */
export interface Facts {
  commonDir: string;
  mainRoot: string | undefined;
  settings: Settings;
  /** Where hooks were before ours, for the main worktree. */
  previousDir: string;
  previousHooks: string[];
  /** Files of others in our own folder. */
  foreign: string[];
  /** The policy in force, and the one that hooks are made from, which may keep what that one has dropped. */
  wanted: GuardPolicy;
  policy: GuardPolicy;
  /** The branch whose policy hooks may follow by themselves; only a human chooses another one. */
  policyFrom: string | undefined;
  /** The policy in force changes only when one of these files does. */
  inputs: string[];
  /** Protected branches with their tips. */
  tips: Map<string, string>;
  /** Because of a human, or because the repository was copied or moved, branches that are where they should be count as seen now. */
  again: "human" | "moved" | undefined;
}

/**
 * What was demanded once stays, unless whoever asks may do without it. A format check is run by whoever commits next, in
 * any worktree: it comes from a branch that got it before the guard's eyes, or because a human asks for these hooks.
 */
function settle(commonDir: string, inForce: PolicyInForce, loosening: Loosening): GuardPolicy {
  if (loosening === "always") return inForce.policy;
  const made = readMade(commonDir);
  const trusted = made === undefined || inForce.explained;
  const policy = { ...inForce.policy, format: trusted ? inForce.committedFormat : [] };
  const may = made === undefined || (loosening === "explained" && inForce.explained);
  return may ? policy : strictest(policy, made);
}

export function lookAround(site: GuardedSite, loosening: Loosening): Facts {
  refuseUnsupported(site);
  const { commonDir, mainRoot } = site;
  const settings = readSettings(site, hasConfigHooks(line(site, ["version"]) ?? ""));
  const { previousPath } = settings;
  const previousDir =
    previousPath === undefined ? join(commonDir, "hooks") : resolve(mainRoot ?? commonDir, previousPath);
  const all = branchTips(site);
  const inForce = readPolicyInForce(site, all);
  const policy = settle(commonDir, inForce, loosening);
  return {
    commonDir,
    mainRoot,
    settings,
    previousDir,
    previousHooks: HOOKS.filter(
      (name) => isForeign(join(previousDir, name)) && canRun(join(previousDir, name)),
    ),
    foreign: namesIfPresent(hooksDir(commonDir)).filter((name) => isForeign(join(hooksDir(commonDir), name))),
    wanted: inForce.policy,
    policy,
    inputs: inForce.inputs,
    policyFrom: (loosening === "always" ? undefined : readBefore(commonDir)?.policyFrom) ?? inForce.branch,
    again: readStamps(commonDir)?.at !== commonDir ? "moved" : loosening === "always" ? "human" : undefined,
    tips: new Map([...all].filter(([ref]) => isProtectedRef(policy.protected, ref))),
  };
}

const isProtectedRef = (patterns: readonly string[], ref: string) =>
  ref.startsWith("refs/heads/") && patterns.some((one) => matchesPattern(one, branchOfRef(ref)));

function isForeign(path: string): boolean {
  const text = textIfPresent(path);
  return text !== undefined && !isOurs(text);
}

/** Git runs hooks from its configuration since 2.54, whatever `core.hooksPath` says. */
function hasConfigHooks(version: string): boolean {
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  return major > 2 || (major === 2 && minor >= 54);
}

export function refuseUnsupported({ commonDir }: GuardedSite): void {
  const unsupported = unsupportedFormat(commonDir);
  if (unsupported === undefined) return;
  throw new Failure("refused", "unsupported_repository", `This repository uses ${unsupported}.`, {
    hint: "The guard would see only part of what happens there, so it was not installed. Nothing was changed.",
    details: { format: unsupported },
  });
}
