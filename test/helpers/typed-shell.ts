import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Typed, terminalFor } from "./pseudo-terminal.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";

const PATIENCE_MS = 90_000;
/** The prompt says how the last command ended. */
const PROMPT = /<<(\d+)>> $/;
const QUESTION = /Type [^\n]+: $/;

/** A shell on a terminal of its own, in which one line after the other is typed as a person would. */
export class TypedShell {
  readonly lines: string[] = [];
  #child: ChildProcessWithoutNullStreams;
  #out = "";
  #wake = () => {};

  /** `folder` gets a command `pawl` that runs the program. */
  constructor(program: string, { path, env }: TemporaryRepository, folder: string) {
    const bin = join(folder, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "pawl"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(join(bin, "pawl"), 0o755);
    const [command, args] = terminalFor(["sh", "-i"]);
    const around = { TERM: "dumb", SHELL: "/bin/sh", NO_COLOR: "1", PAGER: "cat", PS1: "<<$?>> " };
    this.#child = spawn(command, args, {
      cwd: path,
      env: { ...env, ...around, PATH: `${bin}${delimiter}${env.PATH}` },
    });
    const hear = (chunk: Buffer) => {
      this.#out += chunk.toString("utf8").replaceAll("\r", "");
      this.#wake();
    };
    this.#child.stdout.on("data", hear);
    this.#child.stderr.on("data", hear);
    this.#child.stdin.on("error", () => {});
  }

  /** Types a line, counts it, and waits for the next prompt; `answer` is typed at the question in between. */
  async type(line: string, answer?: { text: string; meanwhile?: () => void }): Promise<Typed> {
    await this.#until(PROMPT);
    this.lines.push(line);
    this.#out = "";
    this.#child.stdin.write(`${line}\n`);
    if (answer) {
      const met = await this.#until(new RegExp(`${QUESTION.source}|${PROMPT.source}`));
      if (QUESTION.test(met)) {
        answer.meanwhile?.();
        this.#child.stdin.write(`${answer.text}\n`);
        this.#out = met.replace(QUESTION, "");
      }
    }
    const out = await this.#until(PROMPT);
    return { code: Number(PROMPT.exec(out)?.[1]), out: out.replace(PROMPT, "") };
  }

  close(): void {
    this.#child.kill("SIGKILL");
  }

  async #until(wanted: RegExp): Promise<string> {
    const late = Date.now() + PATIENCE_MS;
    while (!wanted.test(this.#out)) {
      if (Date.now() > late) throw new Error(`Nobody has answered yet:\n${this.#out}`);
      await new Promise<void>((done) => {
        const timer = setTimeout(done, 1000);
        this.#wake = () => {
          clearTimeout(timer);
          done();
        };
      });
    }
    return this.#out;
  }
}
