import type { Style } from "../model/text.ts";
import { columns, indent, paragraphs } from "../model/text.ts";
import type { Command } from "../ports/operation.ts";
import { COMMON, optionName, optionsOf } from "./arguments.ts";

const commandOf = (id: string) => `pawl ${id.replace(".", " ")}`;

/** All commands, or those of one group, each with one line. */
export function overview(operations: readonly Command[], group: string | undefined, style: Style): string {
  const shown = operations.filter((one) => !one.internal);
  const chosen = shown.filter((one) => group === undefined || one.id.startsWith(`${group}.`));
  const rows = chosen.map((one) => [commandOf(one.id), one.summary]);
  return paragraphs(
    group === undefined
      ? "Pawl keeps the memory of your work with coding agents in the repository itself:\ntasks, decisions, evidence, findings and handoffs, as Markdown in git."
      : `${style.bold(`pawl ${group}`)}`,
    `${style.bold("Commands")}\n${indent(columns(rows))}`,
    `${style.bold("On every command")}\n${indent(columns(Object.entries(COMMON).map(([name, { info }]) => [`--${name}${info.hint ? ` ${info.hint}` : ""}`, info.describe])))}`,
    `${style.bold("Exit codes")}\n  0 done or ready   1 refused or not ready   2 could not tell   3 wrong usage\n  4 not found       5 conflict               70 a bug in pawl`,
    "`pawl COMMAND --help` explains one command, with examples.",
  );
}

/** One line that shows how a command is called. */
export function usageOf(operation: Command): string {
  const options = ownOptions(operation);
  const positional = (operation.cli?.positional ?? []).map(optionName);
  const words = positional.map((name) => {
    const info = options.find(([one]) => one === name)?.[1].info;
    const shown = `${info?.hint ?? name.toUpperCase()}${info?.type === "list" ? "…" : ""}`;
    return info?.required ? shown : `[${shown}]`;
  });
  const rest = operation.cli?.rest ? ["[-- CMD…]"] : [];
  const required = options
    .filter(([name, { info }]) => info.required && !positional.includes(name))
    .map(([name, { info }]) => `--${name} ${info.hint}`);
  return [commandOf(operation.id), ...words, ...required, ...rest].join(" ");
}

const ownOptions = (operation: Command) => [...optionsOf(operation)].filter(([name]) => !(name in COMMON));

export function commandHelp(operation: Command, style: Style): string {
  const positional = (operation.cli?.positional ?? []).map(optionName);
  const rows = ownOptions(operation).map(([name, { info }]) => [
    `--${name}${info.hint ? ` ${info.hint}` : ""}`,
    info.describe +
      (info.type === "list" && !positional.includes(name) ? "; may be repeated" : "") +
      (info.required ? " (needed)" : ""),
  ]);
  return paragraphs(
    `${style.bold(usageOf(operation))}\n${operation.summary}.`,
    operation.details,
    rows.length > 0 && `${style.bold("Options")}\n${indent(columns(rows))}`,
    `${style.bold("Examples")}\n${indent(operation.examples.join("\n"))}`,
    "Also --json, --dry-run, --actor WHO, --key KEY: see `pawl --help`.",
  );
}
