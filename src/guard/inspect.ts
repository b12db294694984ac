import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../core/failure.ts";
import type { GuardProblem, GuardState } from "../core/git/guard.ts";
import { askGitSync } from "../git/run-git.ts";
import { listWorktrees } from "../git/worktrees/entries.ts";
import { needsSections, presentHooks } from "./activate.ts";
import { readBefore } from "./before.ts";
import { SETTINGS } from "./config-sections.ts";
import { type Facts, hooksDir, lookAround } from "./facts.ts";
import { canRun, isInPlace, isOurs, type OwnFile, textOf } from "./place.ts";
import { type Programs, planActivation } from "./plan.ts";
import { type GuardedSite, line } from "./policy.ts";
import { readTripped } from "./tips.ts";

const REPAIR = "pawl install --profile hooks";

/** Whether the guard holds, in every worktree: what is there is compared with what an activation would write now. */
export function inspect(site: GuardedSite, programs: Programs): GuardState {
  const before = readBefore(site.commonDir);
  if (!before) return { installed: false, problems: [] };
  let facts: Facts;
  try {
    facts = lookAround(site);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const problem = { code: "unsupported", where: site.commonDir, message: error.message } as const;
    return { installed: true, problems: [{ ...problem, hint: error.hint ?? REPAIR }] };
  }
  const { files, obsolete } = planActivation(facts, programs, presentHooks(site.commonDir));
  return {
    installed: true,
    problems: [
      ...(needsSections(facts) ? [notActive(site)] : []),
      ...overrides(site),
      ...files.filter((file) => !isInPlace(file)).map((file) => fileProblem(file, facts)),
      ...facts.foreign.map((name) => takenOver(join(hooksDir(site.commonDir), name))),
      ...obsolete.map((where) => ({
        ...({ code: "not_chained", where, hint: REPAIR } as const),
        message: "It calls a hook that is not there any more.",
      })),
      ...drift(site, before.hooksPath),
      ...readTripped(site.commonDir).map(({ ref, known, found }) => ({
        ...({ code: "tripped", where: ref, hint: "pawl audit" } as const),
        message: `${ref.slice("refs/heads/".length)} moved from ${known.slice(0, 10)} to ${found.slice(0, 10)} while the guard was switched off.`,
      })),
    ],
  };
}

function notActive({ commonDir }: GuardedSite): GuardProblem {
  const where = join(commonDir, "config");
  return { code: "not_active", where, message: "Git does not use the guard's hooks here.", hint: REPAIR };
}

/** What each worktree, and this very environment, makes of the setting. */
function overrides(site: GuardedSite): GuardProblem[] {
  const found: GuardProblem[] = [];
  for (const worktree of listWorktrees(site.commonDir, site.mainRoot)) {
    if (!existsSync(worktree.path)) continue;
    const args = ["config", "-z", "--show-scope", "--show-origin", "--type=path", "--get", "core.hooksPath"];
    const { out } = askGitSync(args, { cwd: worktree.path, env: site.env });
    const [scope, origin = "", value = ""] = out.split("\0");
    if (value === hooksDir(site.commonDir).replaceAll("\\", "/")) continue;
    const by = scope === "command" ? "the environment" : origin.replace(/^file:/, "") || "nothing";
    found.push({
      code: "override",
      where: worktree.path,
      message: `core.hooksPath is "${value}" there, set by ${by}.`,
      hint:
        scope === "command"
          ? "Take it out of the environment (GIT_CONFIG_COUNT, GIT_CONFIG_PARAMETERS)."
          : `Remove that line from ${by}.`,
    });
    // One environment is the same in every worktree.
    if (scope === "command") break;
  }
  return found;
}

function fileProblem(file: OwnFile, facts: Facts): GuardProblem {
  const where = file.path;
  const text = textOf(where);
  const known = text !== undefined && (isOurs(text) || !file.runs);
  if (text === undefined && file.runs && isShim(file, facts))
    return { code: "not_chained", where, message: "A hook that is there is not called.", hint: REPAIR };
  if (text === undefined) return { code: "file_changed", where, message: "It is missing.", hint: REPAIR };
  if (file.runs && text === file.text && !canRun(where))
    return { code: "file_changed", where, message: "It cannot be run (chmod +x).", hint: REPAIR };
  const renewed = known && (where.endsWith("policy") || where.endsWith(SETTINGS));
  if (renewed) return { code: "policy_changed", where, message: "The policy has changed.", hint: REPAIR };
  return { code: "file_changed", where, message: "It differs from what pawl would write.", hint: REPAIR };
}

const isShim = (file: OwnFile, facts: Facts) =>
  facts.previousHooks.some((name) => file.path.endsWith(`/${name}`));

function takenOver(where: string): GuardProblem {
  return {
    code: "taken_over",
    where,
    message: "Another program installed a hook in our folder.",
    hint: REPAIR,
  };
}

/** Another tool's installer wrote the plain setting; the guard still holds, and the tool's hooks may not be called yet. */
function drift(site: GuardedSite, before: string | null): GuardProblem[] {
  const now = line(site, ["config", "--local", "core.hooksPath"]) ?? null;
  const synced = textOf(join(site.commonDir, "pawl", "previous"))?.trimEnd() ?? null;
  if (now === before || now === synced) return [];
  const where = join(site.commonDir, "config");
  return [{ code: "not_chained", where, message: `core.hooksPath was set to "${now ?? ""}".`, hint: REPAIR }];
}
