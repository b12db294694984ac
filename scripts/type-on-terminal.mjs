// Runs a command on a pseudo-terminal of its own and types a line when it is asked for one. Approvals are confirmed on a
// terminal and nowhere else, so the demo needs one, as a person does.
import { spawn, spawnSync } from "node:child_process";

const PYTHON = "import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;
const works = (command, args) => spawnSync(command, args, { encoding: "utf8" });

/** How this machine makes a terminal: Linux's `script`, the BSDs' and macOS's, or Python. */
export function terminalFor(words) {
  const script = works("script", ["--version"]);
  if (script.status === 0 && script.stdout.includes("util-linux"))
    return ["script", ["-qec", words.map(quoted).join(" "), "/dev/null"]];
  if (script.error === undefined && process.platform !== "linux")
    return ["script", ["-q", "/dev/null", ...words]];
  if (works("python3", ["--version"]).status === 0) return ["python3", ["-c", PYTHON, ...words]];
  return undefined;
}

/** Resolves to the exit code, or to undefined where there is no way to make a terminal. */
export function typeOnTerminal(words, line, options, show) {
  const terminal = terminalFor(words);
  if (!terminal) return Promise.resolve(undefined);
  const child = spawn(...terminal, { ...options, stdio: ["pipe", "pipe", "inherit"] });
  let heard = "";
  let typed = false;
  child.stdout.on("data", (chunk) => {
    const text = String(chunk).replaceAll("\r", "");
    heard += text;
    show(text);
    if (typed || !/Type [^\n]+: $/.test(heard)) return;
    typed = true;
    child.stdin.write(`${line}\n`);
  });
  return new Promise((done) => child.on("close", done));
}
