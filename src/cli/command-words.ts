import { Failure } from "../model/failure.ts";
import { nearest } from "../model/nearest.ts";
import { COMMON, type CommonOptions } from "./arguments.ts";

/** A command with its words, or a group of commands of which none was named. */
export type Named = { id: string; rest: string[] } | { group: string };

/**
 * Which command a line names, and what is left for it to read. Options that every command has may stand before the
 * name, or between its two words; without a name the line is for `status`.
 */
export function findCommand(ids: readonly string[], words: readonly string[]): Named {
  const before = leadingOptions(words);
  const [first, ...after] = words.slice(before.length);
  if (first === undefined || first.startsWith("-")) return { id: "status", rest: [...words] };
  const between = leadingOptions(after);
  const [second, ...rest] = after.slice(between.length);
  if (second !== undefined && ids.includes(`${first}.${second}`))
    return { id: `${first}.${second}`, rest: [...before, ...between, ...rest] };
  if (ids.includes(first)) return { id: first, rest: [...before, ...after] };
  const members = ids.filter((id) => id.startsWith(`${first}.`));
  if (members.length > 0 && second === undefined) return { group: first };
  throw unknownCommand(ids, first, members.length > 0 ? second : undefined);
}

/** The options of every command at the beginning of some words, with their values. */
function leadingOptions(words: readonly string[]): readonly string[] {
  let count = 0;
  for (let word = words[0]; word?.startsWith("--"); word = words[count]) {
    const [name = "", value] = word.slice(2).split("=", 2);
    const option = Object.hasOwn(COMMON, name) ? COMMON[name as keyof CommonOptions] : undefined;
    if (!option) break;
    count += option.info.type === "flag" || value !== undefined ? 1 : 2;
  }
  return words.slice(0, count);
}

function unknownCommand(ids: readonly string[], first: string, second: string | undefined): Failure {
  const members = ids.filter((id) => id.startsWith(`${first}.`));
  const typed = second === undefined ? first : `${first} ${second}`;
  const near =
    (second === undefined || first === "task") && ENDS_A_TASK.test(second ?? first)
      ? ["pawl task update T1 --status dropped"]
      : suggestions(second === undefined ? ids : members, typed.replace(" ", ".")).map(
          (id) => `pawl ${id.replace(".", " ")}`,
        );
  return new Failure("usage", "unknown_command", `There is no command "pawl ${typed.slice(0, 80)}".`, {
    hint:
      near.length > 0
        ? `Did you mean ${near.map((one) => `\`${one}\``).join(" or ")}? \`pawl --help\` lists all.`
        : "`pawl --help` lists all commands.",
    details: near.length > 0 ? { suggestion: near[0] } : {},
  });
}

/** A group is no command; its members are. */
export function noneOfGroup(ids: readonly string[], group: string): Failure {
  const members = ids.filter((id) => id.startsWith(`${group}.`)).map((id) => `pawl ${id.replace(".", " ")}`);
  return new Failure("usage", "unknown_command", `"pawl ${group}" alone is no command.`, {
    hint: `Commands that begin with it: ${members.join(", ")}. \`pawl ${group} --help\` lists them.`,
    details: { commands: members },
  });
}

/** A task is never deleted, which nobody knows who looks for the word. */
const ENDS_A_TASK = /^(?:abandon|cancel|delete|discard|drop|rm)$/;

const MOST_SUGGESTIONS = 3;

/** What was probably meant: what begins like it, a command that somebody knows by its second word, or a slip of the fingers. */
function suggestions(ids: readonly string[], typed: string): string[] {
  const shown = ids.filter((id) => !id.startsWith("hook."));
  const known = [...new Set([...shown, ...shown.map((id) => id.split(".")[0] ?? "")])];
  const begun = known.filter(
    (id) => typed.length > 1 && id.startsWith(typed) && (typed.includes(".") || !id.includes(".")),
  );
  const isTask = (id: string) => Number(id.startsWith("task."));
  const second = shown.filter((id) => id.endsWith(`.${typed}`)).sort((a, b) => isTask(b) - isTask(a));
  const slip = nearest(typed, known);
  const found = [begun, second, slip ? [slip] : []].find((some) => some.length > 0) ?? [];
  return found.slice(0, MOST_SUGGESTIONS);
}
