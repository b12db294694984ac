import { branchOfRef } from "../../model/naming.ts";
import type { Spot } from "../facts.ts";
import { type GitLine, hasLong, parseArguments } from "../git-line.ts";
import type { Refusal } from "../refusal.ts";
import type { ShellCommand, ShellWord } from "../shell/command.ts";

const RULE = "A protected branch moves only with a human's approval.";
const WORK = "Work in a task's own worktree: `pawl start`. To get what the remote has: `git pull --ff-only`.";
const MERGE = "When the work is ready, run `pawl check --stage close` and ask a human to run `pawl approve`.";
const PUBLISH = `${MERGE} With --push the approval also publishes it.`;

const refuse = (fact: string, way: string): Refusal => ({ rule: RULE, fact, way });

/** What git's own guard would refuse a moment later, told early and with the way that is open. */
export function findBranchWrite(command: ShellCommand, git: GitLine, spot: Spot): Refusal | undefined {
  const judge = Object.hasOwn(JUDGES, git.name) ? JUDGES[git.name] : undefined;
  return judge?.(git, spot, command);
}

type Judge = (git: GitLine, spot: Spot, command: ShellCommand) => Refusal | undefined;

const JUDGES: Readonly<Record<string, Judge>> = {
  commit: (git, spot) => onBranch(git, spot, ["--dry-run"]),
  merge: (git, spot) => onBranch(git, spot, ["--ff-only", "--abort", "--quit"]),
  "cherry-pick": (git, spot) => onBranch(git, spot, ["--abort", "--quit", "--no-commit"], "n"),
  revert: (git, spot) => onBranch(git, spot, ["--abort", "--quit", "--no-commit"], "n"),
  am: (git, spot) => onBranch(git, spot, ["--abort", "--quit", "--show-current-patch"]),
  push: judgePush,
  branch: judgeBranch,
  checkout: (git, spot) => judgeReset(git, spot, "B"),
  switch: (git, spot) => judgeReset(git, spot, "C"),
  "update-ref": judgeUpdateRef,
  "symbolic-ref": judgeSymbolicRef,
};

/** Commands that put a commit on the branch that is checked out. */
function onBranch({ name, args }: GitLine, spot: Spot, harmless: string[], letter = ""): Refusal | undefined {
  const { branch, unborn } = spot;
  if (branch === undefined || unborn || !spot.isProtected(branch)) return undefined;
  const parsed = parseArguments(args, { letters: "mFcCtsX", attached: "Su" });
  if (harmless.some((one) => parsed.longs.includes(one)) || (letter && parsed.letters.has(letter)))
    return undefined;
  return refuse(`\`git ${name}\` here would change ${branch}.`, name === "merge" ? `${WORK} ${MERGE}` : WORK);
}

function judgePush({ args }: GitLine, spot: Spot): Refusal | undefined {
  const parsed = parseArguments(args, { letters: "o", longs: ["--repo", "--push-option", "--receive-pack"] });
  if (hasLong(parsed, "--dry-run", "--dry") || parsed.letters.has("n")) return undefined;
  if (hasLong(parsed, "--mirror") || hasLong(parsed, "--all") || hasLong(parsed, "--branches"))
    return refuse("This pushes every branch, including protected ones.", PUBLISH);
  const [, ...named] = parsed.operands;
  const told = named.filter(isTold).map(({ text }) => text);
  // A colon alone stands for all branches that both sides have; a pattern, for all that it fits.
  if (told.some((text) => /^\+?:$/.test(text) || isBranchPattern(text)))
    return refuse("This pushes every branch that matches, including protected ones.", PUBLISH);
  const targets = told.map((text) => pushTarget(text, spot.branch));
  if (named.length === 0 && !hasLong(parsed, "--tags")) targets.push(spot.branch);
  const hit = targets.find((branch) => branch !== undefined && spot.isProtected(branch));
  return hit === undefined ? undefined : refuse(`This pushes to ${hit}.`, PUBLISH);
}

const isTold = (word: ShellWord) => word.known;

/** The branch that `source:target`, `+name` or a name is pushed to. */
function pushTarget(refspec: string, current: string | undefined): string | undefined {
  const [source = "", target = source] = refspec.replace(/^\+/, "").split(":");
  return target === "HEAD" || target === "@" ? current : branchOfRef(target);
}

function isBranchPattern(refspec: string): boolean {
  const target = refspec.slice(refspec.indexOf(":") + 1);
  return target.includes("*") && !/^refs\/(?!heads\/|\*)/.test(target);
}

function judgeBranch({ args }: GitLine, spot: Spot): Refusal | undefined {
  const parsed = parseArguments(args, { letters: "u", longs: ["--set-upstream-to"] });
  const { letters, operands } = parsed;
  const forces = letters.has("f") || hasLong(parsed, "--force");
  const [first, second] = operands.filter(isTold).map(({ text }) => branchOfRef(text));
  const deletes = letters.has("d") || letters.has("D") || hasLong(parsed, "--delete");
  const renames = letters.has("m") || letters.has("M") || hasLong(parsed, "--move");
  const copies = letters.has("C") || ((letters.has("c") || hasLong(parsed, "--copy")) && forces);
  const touched = deletes
    ? operands.map(({ text }) => branchOfRef(text))
    : renames
      ? [second === undefined ? spot.branch : first, second ?? first]
      : copies
        ? [second ?? first]
        : forces
          ? [first]
          : [];
  const hit = touched.find((branch) => branch !== undefined && spot.isProtected(branch));
  return hit === undefined ? undefined : refuse(`This changes what ${hit} is.`, WORK);
}

/** `checkout -B` and `switch -C` put a branch elsewhere. */
function judgeReset({ args }: GitLine, spot: Spot, letter: string): Refusal | undefined {
  const at = args.findIndex(({ text }) => text === `-${letter}` || text === "--force-create");
  const branch = at < 0 ? undefined : args[at + 1]?.text;
  return branch !== undefined && spot.isProtected(branch)
    ? refuse(`This moves ${branch} to another commit.`, WORK)
    : undefined;
}

function judgeUpdateRef({ args }: GitLine, spot: Spot, { input }: ShellCommand): Refusal | undefined {
  const fromInput = (input ?? "").split(/[\s\0]+/);
  const named = parseArguments(args, { letters: "m" }).operands.map(({ text }) => text);
  const refs = [...named.slice(0, 1), ...fromInput].map((ref) => (ref === "HEAD" ? spot.branch : ref));
  const hit = refs.find((ref) => ref !== undefined && isProtectedRef(ref, spot));
  return hit === undefined ? undefined : refuse(`\`git update-ref\` would move ${branchOfRef(hit)}.`, WORK);
}

function judgeSymbolicRef({ args }: GitLine, spot: Spot): Refusal | undefined {
  const { operands, letters } = parseArguments(args, { letters: "m" });
  if (operands.length < 2 && !letters.has("d")) return undefined;
  const hit = operands.map(({ text }) => text).find((ref) => isProtectedRef(ref, spot));
  return hit === undefined
    ? undefined
    : refuse(`\`git symbolic-ref\` would redirect ${branchOfRef(hit)}.`, WORK);
}

/** A plain name counts where the branch itself is checked out. */
const isProtectedRef = (ref: string, spot: Spot) =>
  ref.startsWith("refs/heads/")
    ? spot.isProtected(branchOfRef(ref))
    : ref === spot.branch && spot.isProtected(ref);
