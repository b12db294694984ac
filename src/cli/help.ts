import type { Style } from "../model/text.ts";
import { columns, indent, paragraphs } from "../model/text.ts";
import type { Group } from "../ops/index.ts";
import { COMMON } from "./arguments.ts";
import { usage } from "./citty.ts";
import { commandGroups, commands, loadCommand } from "./commands.ts";

/** What somebody needs who has just heard of pawl, in the order in which it is needed. */
const FIRST: readonly string[] = [
  "install",
  "task.new",
  "start",
  "status",
  "verify",
  "handoff",
  "check",
  "diff",
  "approve",
  "finish",
];

const TITLES: Readonly<Record<Group, string>> = {
  begin: "Begin",
  work: "Work",
  review: "Review",
  merge: "Merge",
  look: "Look",
  "set up": "Set up",
};

const typedAs = (id: string) => `pawl ${id.replace(".", " ")}`;

/** `pawl --help`: the first ten commands, then all of them by what one is doing. */
export async function overview(style: Style): Promise<string> {
  const shown = new Map<string, string>();
  for (const id of Object.keys(commands)) {
    const { internal, summary } = await loadCommand(id);
    if (!internal) shown.set(id, summary);
  }
  const width = Math.max(...[...shown.keys()].map((id) => typedAs(id).length));
  const list = (ids: readonly string[]) =>
    indent(columns(ids.flatMap((id) => rowOf(id, shown.get(id), width))));
  const options = Object.entries(COMMON).map(([name, { info }]) => [
    `--${name}${info.hint ? ` ${info.hint}` : ""}`.padEnd(width),
    info.describe,
  ]);
  return paragraphs(
    "Pawl makes coding agents safe to trust with a real repository: every piece of work is a task in a worktree of its\nown, with evidence that pawl captured itself, reviews that stay, and a merge that only a human can approve.",
    `${style.bold("First steps")}\n${list(FIRST)}`,
    ...commandGroups().map(({ group, ids }) => `${style.bold(TITLES[group])}\n${list(ids)}`),
    `${style.bold("With every command")}\n${indent(columns(options))}`,
    `${style.bold("Exit codes")}\n  0 done or ready   1 refused or not ready   2 could not tell   3 wrong usage\n  4 not found       5 conflict               70 a bug in pawl   130 stopped with Ctrl-C`,
    "`pawl help COMMAND` explains one command, with examples. `pawl` alone says where you are and what is next.",
  );
}

const rowOf = (id: string, summary: string | undefined, width: number) =>
  summary === undefined ? [] : [[typedAs(id).padEnd(width), summary]];

/** `pawl help COMMAND`, or the commands of a group. */
export async function commandHelp(id: string, style: Style): Promise<string> {
  const shown = await usage(Object.keys(commands), id, loadCommand, style.bold("") !== "");
  if (!(id in commands)) return shown;
  const { details, examples } = await loadCommand(id);
  return paragraphs(
    shown,
    details,
    `${style.bold("EXAMPLES")}\n\n${indent(examples.join("\n"))}`,
    "Also --json, --dry-run, --actor WHO, --key KEY: see `pawl --help`.",
  );
}
