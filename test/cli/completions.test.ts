import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundlePawl, terminalFor } from "../helpers/pseudo-terminal.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";

/** What is typed after `pawl ` before Tab is pressed, and the words that the shell then calls pawl with. */
const TYPED: [typed: string, called: string][] = [
  ["ta\tlist", "task list"],
  ["task l\t", "task list"],
  ["task list --stat\topen", "task list --status open"],
  ["task list --status act\t", "task list --status active"],
  ["task list --status=act\t", "task list --status=active"],
  ["task show \t", "task show T0001"],
  ["task show T\t", "task show T0001"],
  ["handoff --what done --task \t", "handoff --what done --task T0001"],
  ["finding resolve \t", "finding resolve F1"],
  ["check --stage pl\t", "check --stage plan"],
  ["--json task l\t", "--json task list"],
  ["task new --plan-file no\t", "task new --plan-file notes.md"],
  ["decide --changed fi\t", "decide --changed first.txt"],
  ["completions f\t", "completions fish"],
  // Text of one's own is nothing that could be completed: no file is offered in its place.
  ["task new no\t", "task new no"],
  ["hook pre\t", "hook pre"],
];

const SHELLS: Record<string, { start: string[]; load(script: string): string }> = {
  bash: { start: ["bash", "--norc", "--noprofile", "-i"], load: (script) => `source '${script}'` },
  zsh: {
    start: ["zsh", "-f", "-i"],
    load: (script) => `autoload -Uz compinit; compinit -u -D; source '${script}'`,
  },
  fish: { start: ["fish", "--no-config", "-i"], load: (script) => `source '${script}'` },
};

let folder: string;
let repo: TemporaryRepository;
let program: string;

beforeAll(async () => {
  folder = makeTemporaryFolder("completions");
  program = await bundlePawl(join(folder, "bundle"));
  repo = makeRepository(folder);
  for (const name of ["notes.md", "first.txt"]) writeFileSync(join(repo.path, name), "");
  const pawl = (...args: string[]) =>
    execFileSync(process.execPath, [program, ...args], { cwd: repo.path, env: repo.env, stdio: "pipe" });
  pawl("task", "new", "The only one");
  pawl("task", "update", "T1", "--status", "active");
  pawl("finding", "add", "Something", "--severity", "low");
  const bin = join(folder, "bin");
  mkdirSync(bin);
  // On the terminal it says how it was called; in a pipe, where completion asks it for ids, it is the real program.
  const said = `if [ -t 1 ]; then printf 'CALLED[%s]\\n' "$*"; else exec '${process.execPath}' '${program}' "$@"; fi`;
  writeFileSync(join(bin, "pawl"), `#!/bin/sh\n${said}\n`);
  chmodSync(join(bin, "pawl"), 0o755);
  repo.env.PATH = `${bin}:${repo.env.PATH}`;
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

/** Types into an interactive shell on a terminal, one line after the other has been answered. */
function typeInto(shell: string, lines: readonly string[]): Promise<string[]> {
  const { start, load } = SHELLS[shell] as (typeof SHELLS)[string];
  const script = join(folder, `pawl.${shell}`);
  writeFileSync(
    script,
    execFileSync(process.execPath, [program, "completions", shell], { cwd: "/", env: repo.env }),
  );
  const [command, args] = terminalFor(start);
  const env = { ...repo.env, TERM: "xterm", PS1: "> ", INPUTRC: "/dev/null", XDG_DATA_HOME: folder };
  const child = spawn(command, args, { cwd: repo.path, env });
  const waiting = [`${load(script)}; pawl ready`, ...lines.map((line) => `pawl ${line}`)];
  return new Promise((done, fail) => {
    let heard = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), 50_000);
    const go = () => {
      const line = waiting.shift();
      if (line === undefined) child.stdin.end("exit\r");
      else child.stdin.write(`${line}\r`);
    };
    let calls = 0;
    child.stdout.on("data", (chunk) => {
      heard += chunk;
      const now = heard.match(/CALLED\[[^\]]*\]/g)?.length ?? 0;
      if (now > calls) setTimeout(go, 50);
      calls = now;
    });
    child.on("error", fail);
    child.on("close", () => {
      clearTimeout(timer);
      const called = [...heard.matchAll(/CALLED\[([^\]]*)\]/g)].map((match) => match[1] ?? "");
      done(called.slice(1));
    });
    go();
  });
}

describe.each(Object.keys(SHELLS))("in an interactive %s", (shell) => {
  const missing = spawnSync(shell, ["--version"]).error !== undefined;
  test.skipIf(missing)(
    "Tab completes commands, options, choices, ids and files",
    { tags: ["proof"] },
    async () => {
      const called = await typeInto(
        shell,
        TYPED.map(([typed]) => typed),
      );
      expect(called).toEqual(TYPED.map(([, words]) => words));
    },
  );
});
