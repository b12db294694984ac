import type { Style } from "../../model/text.ts";
import { columns, plural } from "../../model/text.ts";
import type { AgentNext, FileStep } from "../../ports/installation.ts";

/** What was done with the files, as `--json` says it. */
export interface FileReport {
  written: string[];
  removed: string[];
  kept: string[];
  /** Left alone, each with the reason. */
  left: { path: string; why: string }[];
  /** Written or taken out, with something about it that a person should know. */
  noted: { path: string; why: string }[];
}

export function reportFiles(steps: readonly FileStep[]): FileReport {
  const paths = (...kinds: FileStep["do"][]) =>
    steps.filter((one) => kinds.includes(one.do)).map((one) => one.path);
  const withReason = (...kinds: FileStep["do"][]) =>
    steps.flatMap(({ do: what, path, why }) =>
      why !== undefined && kinds.includes(what) ? [{ path, why }] : [],
    );
  return {
    written: paths("create", "update"),
    removed: paths("remove"),
    kept: steps.filter((one) => one.do === "keep" && one.why === undefined).map((one) => one.path),
    left: withReason("leave", "keep"),
    noted: withReason("create", "update", "remove"),
  };
}

const FEW = 2;

/** One line for a folder of skills instead of twelve. */
function grouped(paths: readonly string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const folder = /^(.*\/(?:skills|prompts))\//.exec(path)?.[1] ?? path;
    groups.set(folder, [...(groups.get(folder) ?? []), path]);
  }
  return [...groups].flatMap(([folder, all]) =>
    all.length > FEW ? [`${folder}/  (${plural(all.length, "file")})`] : all,
  );
}

/** Rows of a word and what it is about; the word stands only in the first of several. */
export function rowsOf(word: string, lines: readonly string[]): string[][] {
  return lines.map((line, index) => [index === 0 ? word : "", line]);
}

export function fileRows(report: FileReport, style: Style): string[][] {
  return [
    ...rowsOf("wrote", grouped(report.written)),
    ...rowsOf("removed", grouped(report.removed)),
    ...reasons("note", report.noted, style.yellow),
    // Nothing to worry about: it is as its owner wants it.
    ...reasons("left", report.left, style.dim),
  ];
}

function reasons(word: string, report: FileReport["left"], paint: Style["dim"]): string[][] {
  const causes = new Map<string, string[]>();
  for (const { path, why } of report) causes.set(why, [...(causes.get(why) ?? []), path]);
  const lines = [...causes].flatMap(([why, paths]) => grouped(paths).map((path) => `${path}: ${why}`));
  return rowsOf(
    word,
    lines.map((line) => paint(line)),
  );
}

/** How to start each agent, in one line; the full text says what it asks first. */
export function beginRows(agents: readonly AgentNext[]): string[][] {
  if (agents.length === 0) return [];
  const ways = agents.map(({ title, begin }) => `${title}: ${begin}`).join(", ");
  return rowsOf("agents", [`begin with ${ways}`, "(what each asks you first: pawl doctor --agents)"]);
}

/** Everything that a person does, and is asked, before an agent starts. */
export function agentRows(agents: readonly AgentNext[], style: Style): string {
  return columns(
    agents.flatMap(({ title, next, asks }) =>
      rowsOf(style.bold(title), [...next, ...asks.map((one) => style.dim(`It asks ${one}.`))]),
    ),
  );
}
