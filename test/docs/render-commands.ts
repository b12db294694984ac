import { COMMON, optionsOf } from "../../src/cli/arguments.ts";
import { usage } from "../../src/cli/citty.ts";
import { commandGroups, commands, loadCommand } from "../../src/cli/commands.ts";
import type { Command } from "../../src/ports/operation.ts";

const INTRODUCTION = `# Commands

Generated from the registry of operations by \`test/docs/generated.test.ts\`: do not edit it by hand. Every example is run by
\`test/docs/examples.test.ts\`. \`pawl COMMAND --help\` says the same.

A task is named by its id (\`T0007\`, \`T7\`), as the argument or with \`--task\`. Without one it is the task whose worktree you
stand in, else the branch's, else the only active one; else the command lists the candidates and does nothing.
`;

const TITLES: Readonly<Record<string, string>> = {
  begin: "Begin",
  work: "Work",
  review: "Review",
  merge: "Merge",
  look: "Look",
  "set up": "Set up",
};

export async function renderCommands(commands: readonly Command[]): Promise<string> {
  const shown = new Map(commands.filter((one) => !one.internal).map((one) => [one.id, one]));
  const groups = commandGroups().map(({ group, ids }) => ({
    title: TITLES[group] ?? group,
    mine: ids.flatMap((id) => shown.get(id) ?? []),
  }));
  const usages = new Map<string, string>();
  for (const id of shown.keys()) usages.set(id, await usageLine(id));
  const section = (command: Command) => sectionOf(command, usages.get(command.id) ?? "");
  return [
    INTRODUCTION,
    `| | |\n|---|---|\n${groups.map(({ title, mine }) => `| ${title} | ${mine.map(linkTo).join(" · ")} |`).join("\n")}\n`,
    `## On every command\n\n${optionTable(Object.entries(COMMON).map(([name, { info }]) => ({ name, ...info })))}\n`,
    EXIT_CODES,
    ...groups.map(({ title, mine }) => `## ${title}\n\n${mine.map(section).join("\n")}`),
  ].join("\n");
}

/** The one line of a command's usage. */
async function usageLine(id: string): Promise<string> {
  const text = await usage(Object.keys(commands), id, loadCommand, false);
  return /^USAGE (.*?) *$/m.exec(text)?.[1] ?? "";
}

const EXIT_CODES = `## Exit codes

| code | meaning |
|---|---|
| 0 | done, or ready |
| 1 | refused by a rule, or not ready |
| 2 | could not tell; treated as a no |
| 3 | wrong usage |
| 4 | not found |
| 5 | conflict: something changed meanwhile |
| 70 | a bug in pawl |
| 130 | stopped with Ctrl-C at a question |

\`--json\` prints one object: \`{"schema":1,"ok":true,"data":{…},"next":{…},"warnings":[…]}\`, or \`"ok":false\` with an \`error\` that has
a \`code\`, a \`message\` and a \`hint\`. Results go to standard output; progress, notes and the next command to standard error.
`;

const titleOf = (command: Command) => `pawl ${command.id.replace(".", " ")}`;
const linkTo = (command: Command) =>
  `[${command.id.replace(".", " ")}](#${titleOf(command).replaceAll(" ", "-")})`;

function sectionOf(command: Command, shown: string): string {
  const options = [...optionsOf(command)]
    .filter(([name]) => !(name in COMMON))
    .map(([name, { info }]) => ({ name, ...info }));
  return [
    `### ${titleOf(command)}\n`,
    `\`${shown}\`\n`,
    `${command.summary}.${command.details ? `\n\n${command.details}` : ""}\n`,
    ...(options.length > 0 ? [`${optionTable(options)}\n`] : []),
    `\`\`\`sh\n${command.examples.join("\n")}\n\`\`\`\n`,
  ].join("\n");
}

interface Row {
  name: string;
  hint: string;
  describe: string;
  type: string;
  required: boolean;
}

function optionTable(rows: readonly Row[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const lines = rows.map(({ name, hint, describe, type, required }) => {
    const notes = [type === "list" ? "may be repeated" : "", required ? "needed" : ""].filter(Boolean);
    return `| \`--${name}${hint ? ` ${cell(hint)}` : ""}\` | ${cell(describe)}${notes.length > 0 ? ` (${notes.join(", ")})` : ""} |`;
  });
  return `| option | |\n|---|---|\n${lines.join("\n")}`;
}
