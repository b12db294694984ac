import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { sha256 } from "../files/digest.ts";
import { textIfPresent } from "../files/read.ts";
import { hooksDir, readTripped } from "../git/guard-files.ts";
import { Failure } from "../model/failure.ts";
import { missingFrom, REPAIR } from "../model/guard-policy.ts";
import { branchOfRef } from "../model/naming.ts";
import { quoted } from "../model/text.ts";
import type { GuardProblem, GuardState } from "../ports/guard.ts";
import { presentHooks, stillDemanded } from "./activate.ts";
import { type Before, readBefore } from "./before.ts";
import { hasForeignPath } from "./config-text.ts";
import { configOf } from "./edit-config.ts";
import { type Facts, lookAround } from "./facts.ts";
import { policyFile, readMade } from "./made-policy.ts";
import { overtakenMerges, tellOvertaken } from "./overtaken.ts";
import { canRun, isInPlace, type OwnFile } from "./place.ts";
import { planActivation } from "./plan.ts";
import type { GuardedSite } from "./policy.ts";
import { answers, settingIn, workplaces } from "./probe.ts";
import type { Programs } from "./render-hooks.ts";
import { unsettled } from "./settings.ts";
import { tellUnlocked, unlockedBranches } from "./unlocked-branches.ts";

/** Whether the guard holds, in every worktree: what is there is compared with what an activation would write now. */
export function inspect(site: GuardedSite): GuardState {
  const before = readBefore(site.commonDir);
  if (!before) return { installed: false, problems: [] };
  let facts: Facts;
  try {
    facts = lookAround(site, "never");
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { installed: true, problems: [cannotLook(site, error)] };
  }
  // Another copy of pawl than the one that made the hooks is no reason to call them changed.
  const { files, obsolete } = planActivation(
    facts,
    { programs: before.programs, remotes: before.remotes ?? [] },
    presentHooks(site.commonDir),
  );
  const settings = settingProblems(facts);
  const inactive = settings.some((one) => one.code === "not_active");
  const policy = policyProblems(site, facts);
  const changed = policy.some((one) => one.code === "policy_changed");
  return {
    installed: true,
    problems: [
      ...settings,
      // Where git does not use our hooks at all, it is worth telling of a worktree only who has set other ones.
      ...worktreeProblems(site).filter((one) => !inactive || one.command !== REPAIR),
      ...policy,
      ...files
        .filter((file) => file.path !== policyFile(site.commonDir) && file.path !== previousFile(facts))
        .filter((file) => !isInPlace(file))
        .map((file) => fileProblem(file, facts, before))
        .filter((one) => one.code !== "outdated" || !changed),
      ...facts.foreign.map((name) => takenOver(join(hooksDir(site.commonDir), name))),
      ...obsolete.map((where) => ({
        ...({ code: "not_chained", where, command: REPAIR } as const),
        message: "It calls a hook that no longer exists.",
      })),
      ...drift(facts),
      ...missingPrograms(site, before.programs),
      ...overtakenMerges(site.commonDir, site.env).map((one) => ({
        ...({ code: "overtaken", where: one.branch } as const),
        message: tellOvertaken(one),
        command: `pawl approve ${one.task} --redo --push`,
      })),
      ...unlockedBranches(site.commonDir).map((one) => ({
        ...({ code: "unlocked", where: one.branch } as const),
        message: tellUnlocked(one),
      })),
      ...readTripped(site.commonDir).map(({ ref, known, found }) => ({
        ...({ code: "tripped", where: ref, command: "pawl audit" } as const),
        message: `${branchOfRef(ref)} moved from ${known.slice(0, 10)} to ${found.slice(0, 10)} while the guard was switched off.`,
      })),
    ],
  };
}

function cannotLook({ commonDir }: GuardedSite, { code, message, hint }: Failure): GuardProblem {
  const told = hint === undefined ? message : `${message} ${hint}`;
  return {
    code: code === "broken_config" ? "policy_unreadable" : "unsupported",
    where: commonDir,
    message: told,
  };
}

/** What the configuration says against what an activation would write. */
function settingProblems({ commonDir, settings }: Facts): GuardProblem[] {
  const where = configOf(commonDir);
  const told = (code: GuardProblem["code"], message: string) => [{ code, where, message, command: REPAIR }];
  if (!settings.winning)
    return told(
      "not_active",
      "Git does not use the guard's hooks here: the setting is gone, or another one overrides it.",
    );
  // Another tool has set its own folder again; each worktree's own setting wins over that.
  if (!unsettled(commonDir, settings).includes(where) || hasForeignPath(textIfPresent(where) ?? ""))
    return [];
  return told("outdated", "The guard's settings differ from what this version of pawl writes.");
}

/** What each worktree, and this very environment, makes of the setting; and whether the guard really answers there. */
function worktreeProblems(site: GuardedSite): GuardProblem[] {
  const found: GuardProblem[] = [];
  for (const { where, git } of workplaces(site)) {
    const said = settingIn(where, git);
    if (!said) continue;
    const { scope, origin, value } = said;
    if (value !== hooksDir(site.commonDir).replaceAll("\\", "/"))
      found.push(override(where, { scope, value, file: origin.replace(/^file:/, "") }));
    else if (!answers(git, site.commonDir))
      found.push({
        ...({ code: "silent", where, command: REPAIR } as const),
        message: "The guard did not react to a test change of a ref there.",
      });
    // One environment is the same in every worktree.
    if (scope === "command") break;
  }
  return found;
}

function override(
  where: string,
  { scope, value, file }: { scope: string | undefined; value: string; file: string },
): GuardProblem {
  if (scope === "command") {
    const message = `core.hooksPath is "${value}" in this environment, so git runs no guard for commands from here. Remove it from GIT_CONFIG_COUNT, GIT_CONFIG_KEY_… or GIT_CONFIG_PARAMETERS.`;
    return { code: "override", where, message };
  }
  const message =
    file === ""
      ? "core.hooksPath is not set there, so git does not run our hooks."
      : `core.hooksPath is "${value}" there, set by ${file}, so git runs no guard.`;
  // What the repository's own configuration says, ours can win over.
  const command =
    scope !== "worktree" ? REPAIR : `git config --file ${quoted(file)} --unset-all core.hooksPath`;
  return { code: "override", where, message, command };
}

/** What the protected tip says now, against what the hooks were made from. */
function policyProblems({ commonDir }: GuardedSite, { wanted, policy }: Facts): GuardProblem[] {
  const made = readMade(commonDir) ?? { protected: [], format: [] };
  const where = policyFile(commonDir);
  const lacking = missingFrom(wanted, made);
  const found: GuardProblem[] = [];
  if (lacking.length > 0) {
    const message = `The policy in force names ${lacking.join(", ")}, but the hooks were written without it.`;
    found.push({ code: "policy_changed", where, message, command: REPAIR });
  }
  const kept = missingFrom(policy, wanted);
  if (kept.length > 0) found.push({ code: "policy_stricter", where, message: stillDemanded(kept) });
  return found;
}

function fileProblem(file: OwnFile, facts: Facts, before: Before): GuardProblem {
  const where = file.path;
  const text = textIfPresent(where);
  const known = before.digests[relative(facts.commonDir, where)] ?? before.digests[where];
  const told = (code: GuardProblem["code"], message: string) => ({ code, where, message, command: REPAIR });
  if (text === undefined && file.runs && isShim(file, facts))
    return told("not_chained", "A hook exists but is not called.");
  if (text === undefined) return told("file_changed", "It is missing.");
  if (file.runs && text === file.text && !canRun(where))
    return told("file_changed", "It is not executable (chmod +x).");
  if (known !== undefined && known === sha256(text))
    return told("outdated", "It is unchanged, but this version of pawl writes it differently.");
  return told("file_changed", "It differs from what pawl writes.");
}

const isShim = (file: OwnFile, facts: Facts) =>
  facts.previousHooks.some((name) => file.path.endsWith(`/${name}`));

function takenOver(where: string): GuardProblem {
  const message = "Another program installed a hook in our folder.";
  return { code: "taken_over", where, message, command: REPAIR };
}

const previousFile = ({ commonDir }: Facts) => join(commonDir, "pawl", "previous");

/** Another tool's installer named a folder, and its hooks may not be called yet. */
function drift(facts: Facts): GuardProblem[] {
  const now = facts.settings.previousPath;
  if (now === textIfPresent(previousFile(facts))?.trimEnd()) return [];
  const message = `core.hooksPath was set to "${now ?? ""}", and hooks there may not be called yet.`;
  return [{ code: "not_chained", where: configOf(facts.commonDir), message, command: REPAIR }];
}

/** `pre-push` refuses whatever it cannot ask about; that should not be news in the moment of a push. */
function missingPrograms({ commonDir }: GuardedSite, { node, program }: Programs): GuardProblem[] {
  const found: GuardProblem[] = [];
  const runtime = join(commonDir, "pawl", "runtime", "pawl.cjs");
  if (!canRun(node)) {
    const message =
      "Node was on the PATH when the hooks were written. Without it, pushes to protected branches are refused.";
    found.push({ code: "node_missing", where: node, message, command: REPAIR });
  }
  if (!existsSync(runtime) && !existsSync(program)) {
    const message = "The program that pre-push starts is gone, so pushes to protected branches are refused.";
    found.push({ code: "program_missing", where: program, message, command: REPAIR });
  }
  return found;
}
