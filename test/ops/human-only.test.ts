import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundlePawl } from "../helpers/pseudo-terminal.ts";
import { copySigned, makeSigned, type SignedProject } from "../helpers/signed-project.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/**
 * What an agent with a shell can do to pass for a human: take its own signs out of the environment and type on a terminal
 * that it made itself. Every row was run before any of this existed, and merged.
 */
interface Forgery {
  how: string;
  /** A line for `sh` in which `forged-pawl` is the command; its input is what a human would type. */
  line: string;
  /** Under `approvals: terminal`: whoever descends from an agent is that agent; the others only promise not to. */
  terminal: "refused" | "a promise";
  needs?: string;
}

const SCRUB = "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID";
const PTY = `import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))`;

const FORGERIES: Forgery[] = [
  { how: "env -u and script(1)", line: `${SCRUB} script -qec forged-pawl /dev/null`, terminal: "refused" },
  {
    how: "env -i and script(1)",
    line: 'env -i PATH="$PATH" HOME="$HOME" script -qec forged-pawl /dev/null',
    terminal: "refused",
  },
  {
    how: "an empty variable and script(1)",
    line: "CLAUDECODE= CLAUDE_CODE_SESSION_ID= script -qec forged-pawl /dev/null",
    terminal: "refused",
  },
  {
    how: "a pseudo-terminal of Python's",
    line: `${SCRUB} python3 -c '${PTY}' forged-pawl`,
    terminal: "refused",
  },
  {
    how: "a git alias",
    line: `${SCRUB} git -c alias.x='!script -qec forged-pawl /dev/null' x`,
    terminal: "refused",
  },
  {
    how: "a program that Node starts",
    line: `${SCRUB} node -e 'require("child_process").spawnSync("script", ["-qec", "forged-pawl", "/dev/null"], { stdio: "inherit" })'`,
    terminal: "refused",
  },
  {
    how: "an npm script",
    line: `echo '{"scripts":{"x":"script -qec forged-pawl /dev/null"}}' > "$HOME/package.json"; ${SCRUB} npm --prefix "$HOME" run --silent x`,
    terminal: "refused",
  },
  {
    how: "a parent that ends at once (a double fork)",
    line: `cat > "$HOME/typed"; (${SCRUB} sh -c 'script -qec forged-pawl /dev/null < "$HOME/typed"; : > "$HOME/over"' &); while [ ! -e "$HOME/over" ]; do sleep 0.2; done`,
    terminal: "refused",
  },
  {
    how: "a daemon of its own (setsid -f)",
    line: `cat > "$HOME/typed"; ${SCRUB} setsid -f sh -c 'script -qec forged-pawl /dev/null < "$HOME/typed"; : > "$HOME/over"'; while [ ! -e "$HOME/over" ]; do sleep 0.2; done`,
    terminal: "a promise",
    needs: "setsid",
  },
  {
    how: "a terminal multiplexer of its own (tmux)",
    line: `${SCRUB} tmux -S "$HOME/t.sock" -f /dev/null new-session -d -x 200 -y 100 'forged-pawl; : > "$HOME/over"'; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do [ -e "$HOME/over" ] && break; sleep 1; tmux -S "$HOME/t.sock" send-keys "$(cat "$HOME/word")" Enter 2>/dev/null; done; tmux -S "$HOME/t.sock" kill-server 2>/dev/null`,
    terminal: "a promise",
    needs: "tmux",
  },
];

let folder: string;
let program: string;
let typed: SignedProject;
let signed: SignedProject;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("human only");
  program = await bundlePawl(folder);
  typed = await makeSigned(join(folder, "terminal"), "approvals: terminal\n");
  signed = await makeSigned(join(folder, "signed"), "approvals: signed\nlevel: possession\n");
  for (const project of [typed, signed]) await project.ready("one");
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const has = (name: string | undefined) =>
  name === undefined || spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

/** As an agent's shell runs it: with its signs around, in a process below its own. */
async function runAsAgent(it: SignedProject, { line }: Forgery, argv: string, word: string): Promise<void> {
  const command = join(it.root, "bin/forged-pawl");
  mkdirSync(join(it.root, "bin"), { recursive: true });
  const words = `: > '${it.root}/was run'; cd '${it.home.path}' && exec '${process.execPath}' '${program}' ${argv}`;
  writeFileSync(command, `#!/bin/sh\n${words}\n`, { mode: 0o755 });
  writeFileSync(join(it.root, "word"), word);
  const signs = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "author" };
  const env = { ...it.env, ...signs, PATH: `${it.root}/bin:${it.env.PATH}`, TERM: "dumb", SHELL: "/bin/sh" };
  // A shell that has nothing left to do becomes its last command, and the agent's program would not be there any more.
  const child = spawn("sh", ["-c", `${line}; true`], {
    ...{ cwd: it.home.path, env, timeout: 90_000 },
    // Agents start their shells in groups of their own.
    ...{ stdio: ["pipe", "ignore", "ignore"], detached: true },
  });
  // A program that refuses at once reads none of it.
  child.stdin.on("error", () => {});
  child.stdin.end(`${word}\n`);
  await new Promise((done, fail) => child.on("error", fail).on("close", done));
  // A line that never came to it would prove nothing.
  expect(existsSync(join(it.root, "was run"))).toBe(true);
}

// Several at a time: script(1) takes two seconds to notice that nobody types any more.
describe.concurrent.each(FORGERIES)("$how", { timeout: 120_000 }, (forgery) => {
  const here = test.runIf(has(forgery.needs));
  const tags = forgery === FORGERIES[0] ? [] : ["proof"];

  here(`typed on a terminal: ${forgery.terminal}`, { tags }, async () => {
    const it = copySigned(typed, join(folder, `copy${++copies}`));
    const before = it.git("rev-parse", "main");
    await runAsAgent(it, forgery, "approve T1", "T0001");
    expect(it.git("rev-parse", "main") === before ? "refused" : "a promise").toBe(forgery.terminal);
  });

  here("where approvals are signed: refused", { tags }, async () => {
    const it = copySigned(signed, join(folder, `copy${++copies}`));
    // What an agent cannot have: a key that answers to a finger, or a phrase in somebody's head.
    rmSync(join(it.root, ".ssh"), { recursive: true });
    const before = it.git("rev-parse", "main");
    await runAsAgent(it, forgery, "approve T1", "T0001");
    expect(it.git("rev-parse", "main")).toBe(before);
  });
});

test("an unlock is refused alike", { tags: ["proof"] }, async () => {
  const it = copySigned(signed, join(folder, `copy${++copies}`));
  rmSync(join(it.root, ".ssh"), { recursive: true });
  const daemon = FORGERIES.find((one) => one.needs === "setsid") as Forgery;
  await runAsAgent(it, daemon, "unlock main --for 1m", "main");
  expect(existsSync(join(it.home.path, ".git/pawl/grants/unlock/refs/heads/main"))).toBe(false);
});

test("docs/approve.md tells which is which", () => {
  const page = readFileSync(new URL("../../docs/approve.md", import.meta.url), "utf8");
  for (const { how, terminal } of FORGERIES) expect(page).toContain(`| ${how} | ${terminal} | refused |`);
});
