import chain from "../../hooks/chain.sh";
import early from "../../hooks/early.sh";
import preCommit from "../../hooks/pre-commit.sh";
import prePush from "../../hooks/pre-push.sh";
import preRebase from "../../hooks/pre-rebase.sh";
import previous from "../../hooks/previous.sh";
import referenceTransaction from "../../hooks/reference-transaction.sh";
import refuse from "../../hooks/refuse.sh";
import rules from "../../hooks/rules.sh";
import shim from "../../hooks/shim.sh";
import where from "../../hooks/where.sh";
import { AGENT_SIGNS } from "../model/actor.ts";
import type { FormatCheck } from "../model/config.ts";
import { refOfBranch } from "../model/naming.ts";

/** The programs that `pre-push` starts: where Node was when the hooks were made, and ours unless the clone has its own. */
export interface Programs {
  node: string;
  program: string;
}

/** A remote whose protected branches are let in while it leads where a human confirmed it. */
export interface HookRemote {
  name: string;
  address: string;
  push: readonly string[];
}

/** Everything that differs between the hooks of two repositories. */
export interface HookChoices extends Programs {
  /** Patterns of branches, as the policy has them. */
  protected: readonly string[];
  /** What the files of a commit have to pass. */
  format: readonly FormatCheck[];
  /** The file system takes `Main` for `main`. */
  ignoreCase: boolean;
  remotes: readonly HookRemote[];
  /** Hooks that were here before, by name. */
  previous: readonly string[];
}

const LONGEST_UNLOCK_SECONDS = 8 * 60 * 60;

const GUARD = "reference-transaction";
const PARTS: Record<string, string> = { where, refuse, rules, previous, early };
const PRE_COMMIT = "pre-commit";

/** The hooks by file name, and the guard by itself: copies of it lie wherever git might look instead. */
export function renderHooks(choices: HookChoices): { guard: string; files: Map<string, string> } {
  const guard = fill(referenceTransaction, choices);
  const files = new Map([
    [GUARD, choices.previous.includes(GUARD) ? fill(chain, choices) : guard],
    ["pre-push", fill(prePush, choices)],
    ["pre-rebase", fill(preRebase, choices)],
  ]);
  if (choices.format.length > 0 || choices.previous.includes(PRE_COMMIT))
    files.set(PRE_COMMIT, fill(preCommit, choices));
  for (const name of choices.previous) if (!files.has(name)) files.set(name, fill(shim, choices));
  return { guard, files };
}

function fill(template: string, choices: HookChoices): string {
  const whole = template.replace(/^# @include (\w+)\n/gm, (_line, name: string) => PARTS[name] ?? "");
  return whole
    .replace(/^\t# @protected\n/m, () =>
      tests(choices)
        .map((line) => `\t${line}\n`)
        .join(""),
    )
    .replace(/^\t# @remotes\n/m, () => choices.remotes.map((one) => `\t${believe(one)}\n`).join(""))
    .replace(/^# @format\n/m, () => choices.format.map((one) => `${formatCheck(one)}\n`).join(""))
    .replace("@SIGNS@", () => AGENT_SIGNS.map((name) => `\${${name}-}`).join(""))
    .replace("@LONGEST_UNLOCK@", String(LONGEST_UNLOCK_SECONDS))
    .replace("@NODE@", () => quote(choices.node))
    .replace("@PROGRAM@", () => quote(choices.program));
}

const believe = ({ name, address, push }: HookRemote) =>
  `believe ${quote(name)} ${quote([address, ...push].join("\n"))} "$1" "$3"`;

const FILES = "{files}";

/** The names come as arguments of the shell that runs the command, so that nothing in them is ever read as a word of it. */
function formatCheck({ files, command }: FormatCheck): string {
  const named = command.includes(FILES);
  const words = [files === "" ? ":/" : files, command, named ? command.replaceAll(FILES, '"$@"') : ""];
  return `check ${words.map(quote).join(" ")}`;
}

/**
 * A `*` of the shell also takes slashes, and one of the policy does not. As every slash of a pattern stands for one of
 * the name, a name that has more of them is one in which a `*` took some.
 */
function tests({ protected: patterns, ignoreCase }: HookChoices): string[] {
  return [...new Set(patterns)].map((pattern) => {
    const full = refOfBranch(pattern);
    const test = `${shellPattern(full, ignoreCase)}) return 0 ;;`;
    const slashes = full.split("/").length - 1;
    const anySlashes = pattern.includes("**") || !/[*?]/.test(pattern);
    const deeper = anySlashes ? "" : `${"*/".repeat(slashes + 1)}*) ;; `;
    return `case $1 in ${deeper}${test} esac`;
  });
}

function shellPattern(pattern: string, ignoreCase: boolean): string {
  return pattern
    .split(/(\*+|\?)/)
    .map((part) =>
      part.startsWith("*") ? "*" : part === "?" || part === "" ? part : literal(part, ignoreCase),
    )
    .join("");
}

function literal(text: string, ignoreCase: boolean): string {
  if (!ignoreCase) return quote(text);
  const letters = [...text].map((one) => {
    const [lower, upper] = [one.toLowerCase(), one.toUpperCase()];
    return lower === upper ? quote(one) : `[${lower}${upper}]`;
  });
  return letters.join("");
}

/** One word for the shell, whatever is in it. */
export const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
