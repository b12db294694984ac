import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTerminal } from "../helpers/pseudo-terminal.ts";
import { makeRepository, type TemporaryRepository } from "../helpers/temporary-repository.ts";
import type { Block } from "./read-markdown.ts";

/** One `$ command` of a block, with what the page says that it prints. */
export interface Step {
  command: string;
  expected: string[];
}

/** `$ ` begins a command, `> ` continues it; everything up to the next one is its output. */
export function stepsOf(block: Block): Step[] {
  const steps: Step[] = [];
  for (const line of block.text.trimEnd().split("\n")) {
    const last = steps.at(-1);
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), expected: [] });
    else if (!last) throw new Error(`line ${block.line}: a console block begins with "$ "`);
    else if (line.startsWith("> ") && last.expected.length === 0) last.command += `\n${line.slice(2)}`;
    else last.expected.push(line);
  }
  return steps;
}

/** A line that is only `…` stands for any lines, `…` within a line for any text there. */
export function matches(printed: readonly string[], expected: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return printed.length === 0;
  if (first === "…")
    return printed.some((_, skip) => matches(printed.slice(skip), rest)) || rest.length === 0;
  const pattern = first.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const [line] = printed;
  return (
    line !== undefined && new RegExp(`^${pattern.join(".*")}$`).test(line) && matches(printed.slice(1), rest)
  );
}

export interface Session {
  repository: TemporaryRepository;
  cwd: string;
}

/** What a reader has: a project called `shop` with a test, in their home folder, an `api` beside it, and pawl on the PATH. */
export function openSession(folder: string, program: string): Session {
  makeRepository(folder, "api");
  const repository = makeRepository(folder, "shop");
  const { path: cwd, env } = repository;
  writeFileSync(join(cwd, "package.json"), '{ "private": true, "scripts": { "test": "node test.js" } }\n');
  writeFileSync(
    join(cwd, "test.js"),
    'if (!require("node:fs").existsSync("package.json")) process.exit(1);\n',
  );
  spawnSync("git", ["add", "-A"], { cwd, env });
  spawnSync("git", ["commit", "-q", "--amend", "--no-edit"], { cwd, env });
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "pawl"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, "pawl"), 0o755);
  repository.env.PATH = `${bin}:${repository.env.PATH}`;
  return { repository, cwd: repository.path };
}

/** A human at a terminal is asked for a word, and the page shows which they type. */
const TYPED = /^Type .*: (\S+)$/;

/** Runs one command where the one before left off, and returns everything it printed, line by line. */
export async function runStep(
  session: Session,
  program: string,
  block: Block,
  step: Step,
): Promise<string[]> {
  const { repository } = session;
  const agent = /\bas=(\S+)/.exec(block.info)?.[1];
  const env = { ...repository.env, ...(agent ? { CODEX_SESSION_ID: agent } : {}) };
  const typed = step.expected.map((line) => TYPED.exec(line)?.[1]).find(Boolean);
  // A review counts when a human is seen to say it.
  if (typed || /^pawl review record /.test(step.command)) {
    const words = step.command.split(" ").slice(1);
    const { out } = await onTerminal(program, { path: session.cwd, env }, words, typed ?? "");
    return linesOf(session, out);
  }
  const script = `${step.command}\n__code=$?; pwd >&3; exit $__code`;
  const done = spawnSync("sh", ["-c", `exec 2>&1\n${script}`], {
    // A reader whose worktree was removed goes on from there all the same.
    cwd: existsSync(session.cwd) ? session.cwd : repository.env.HOME,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    timeout: 60_000,
  });
  session.cwd = done.output[3]?.trim() || session.cwd;
  return linesOf(session, done.stdout);
}

/** The reader's home folder is `~`; quotes are only there because this one has a space in its path. */
function linesOf({ repository }: Session, out: string): string[] {
  const home = repository.env.HOME ?? "";
  const escaped = home.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const text = out
    .replace(new RegExp(`'${escaped}([^'\n]*)'`, "g"), "~$1")
    .replaceAll(home, "~")
    .trimEnd();
  return text === "" ? [] : text.split("\n");
}
