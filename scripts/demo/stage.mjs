// The stage of the demo: two repositories in a throw-away folder, the real program, and three actors.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../install-if-needed.mjs";
import { typeOnTerminal } from "../type-on-terminal.mjs";

export const folder = realpathSync(mkdtempSync(join(tmpdir(), "pawl-demo-")));
export const pathOf = (repo) => join(folder, repo);
export const worktreeOf = (repo, task = "T0001-make-sum-add-up") => join(folder, repo, ".worktrees", task);

// Whoever runs the demo, nobody of theirs is in it: neither an agent's environment nor a name.
const names =
  /^(?:CLAUDE|CODEX_|COPILOT_|GEMINI_CLI|OPENCODE|CURSOR_|AI_AGENT|PAWL_|GIT_|NODE_EXTRA_CA_CERTS)/;
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.test(name)));
const settings = join(folder, "gitconfig");
writeFileSync(settings, "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n");
export const env = { ...inherited, GIT_CONFIG_GLOBAL: settings };
export const pawl = [process.execPath, join(root, "dist", "pawl.cjs")];

/** Each is known by its environment alone: that is how pawl knows who acts. */
export const ada = { name: "Ada, a human", env: {} };
export const codex = {
  name: "Codex, the author",
  hook: ["codex", "author-session"],
  env: { CODEX_SESSION_ID: "author-session" },
};
export const claude = {
  name: "Claude, the reviewer",
  hook: ["claude", "reviewer-session"],
  env: { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "reviewer-session" },
};

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
const [bold, dim, cyan] = [paint(1), paint(2), paint(36)];
const indented = (text) => text.replace(/^(?=.)/gm, "  ").replaceAll(folder, "~");
const wordsOf = (args) => args.map((word) => (/^[\w./=-]+$/.test(word) ? word : `"${word}"`)).join(" ");

function git(cwd, ...args) {
  const done = spawnSync("git", args, { cwd, env, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
}

export function makeRepository(name, files, message = "A sum that does not add up") {
  mkdirSync(pathOf(name), { recursive: true });
  git(pathOf(name), "init", "-q");
  writeFiles(pathOf(name), files);
  git(pathOf(name), "add", "-A");
  git(pathOf(name), "commit", "-q", "-m", message);
}

export function writeFiles(where, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(where, path)), { recursive: true });
    writeFileSync(join(where, path), text);
  }
}

export function commitIn(where, files, message) {
  writeFiles(where, files);
  git(where, "add", "-A");
  git(where, "commit", "-q", "-m", message);
}

/** One command of one actor, without a word; what it answered comes back, and a failure ends the demo. */
export function quietly(who, where, ...words) {
  const done = spawnSync(pawl[0], [pawl[1], ...words], {
    cwd: where,
    env: { ...env, ...who.env },
    encoding: "utf8",
  });
  if (done.status !== 0) throw new Error(`pawl ${words.join(" ")}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}

/** What an agent's program tells its hook when a session begins; a review of any other session counts for nothing. */
export function begin({ hook: [agent, session_id], env: own }, where) {
  const input = JSON.stringify({ hook_event_name: "SessionStart", session_id, cwd: where });
  const hook = join(root, "dist", "hook.cjs");
  spawnSync(process.execPath, [hook, agent], { cwd: where, env: { ...env, ...own }, input });
}

let shown = 0;

/** Plays one act: says why, shows who types what, and what it answers. A wrong exit code ends the demo. */
export async function play({ why, who, where, run, types, expected = 0 }, total) {
  const prompt = `${dim(`${who.name}, in ${where.replace(folder, "~")}`)}\n${cyan("$")} ${bold(wordsOf(run))}`;
  console.log(`\n${dim(`[${++shown}/${total}]`)} ${why}\n${prompt}`);
  const [program, ...words] = run[0] === "pawl" ? [...pawl, ...run.slice(1)] : run;
  const options = { cwd: where, env: { ...env, ...who.env, ...(colour ? {} : { NO_COLOR: "1" }) } };
  if (types) {
    const code = await typeOnTerminal([program, ...words], types, options, (text) =>
      process.stdout.write(indented(text)),
    );
    if (code !== undefined && code !== expected) throw new Error(`${run.join(" ")} ended with ${code}`);
    return code;
  }
  const done = spawnSync(program, words, { ...options, encoding: "utf8" });
  process.stdout.write(indented(done.stdout + done.stderr));
  if (done.status !== expected && !(expected === "refused" && done.status !== 0))
    throw new Error(`${run.join(" ")} ended with ${done.status}`);
  return done.status;
}
