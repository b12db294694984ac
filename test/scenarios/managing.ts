import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseLine } from "../../src/cli/arguments.ts";
import { findCommand } from "../../src/cli/command-words.ts";
import { toolName } from "../../src/mcp/tools.ts";
import { operations } from "../../src/ops/index.ts";
import { makeRunProject, type RunProject } from "../agents/supervised.ts";
import type { Outcome, SURFACES } from "./following.ts";

/**
 * The program of a manager's run that does what it is told, one request after the other: what a manager may do is known
 * by its processes, so that nobody else can follow the skill in its place.
 */
const BOSS = `
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { ASKED, PAWL } = process.env;
const tell = (file, answer) => { writeFileSync(file + ".new", JSON.stringify(answer)); renameSync(file + ".new", file); };
let server, lines, id = 0;
async function rpc(method, params) {
  server ??= spawn(process.execPath, [PAWL, "mcp", "--tools", "manager", "--agent", "boss"], { stdio: ["pipe", "pipe", "inherit"] });
  lines ??= createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  server.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params }) + "\\n");
  for (;;) { const answer = JSON.parse((await lines.next()).value); if (answer.id === id) return answer.result ?? answer; }
}
async function call({ tool, input }) {
  if (!server) await rpc("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "boss", version: "1" } });
  const { content, isError, structuredContent: data } = await rpc("tools/call", { name: tool, arguments: input });
  return { ok: !isError && data?.check?.ready !== false, text: (content ?? []).map((one) => one.text).join("") };
}
for (let nth = 1; ; nth++) {
  const file = ASKED + "/" + nth;
  while (!existsSync(file)) await new Promise((done) => setTimeout(done, 20));
  const asked = JSON.parse(readFileSync(file, "utf8"));
  if (asked.end) break;
  if (asked.tool) tell(file + ".answer", await call(asked));
  else {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PAWL, ...asked.words], { encoding: "utf8" });
    tell(file + ".answer", { ok: status === 0, text: stdout + stderr });
  }
}
server?.stdin.end();
`;
const WORKER = `
prompt=$(cat)
pawl() { node "$PAWL" "$@"; }
case "$prompt" in
  "You review "*) pawl review record --kind branch --verdict pass --looked-at "$PAWL_TASK.txt" ;;
  *)
    echo work >> "$PAWL_TASK.txt"; git add -A; git commit -qm Work
    pawl verify; pawl handoff --what Written --next "review it" ;;
esac
`;

/** Follows the skill of a manager from inside its own run. */
export class ManagedFollower {
  readonly project: RunProject;
  readonly #surface: (typeof SURFACES)[number];
  readonly #asked: string;
  #nth = 0;

  constructor(surface: (typeof SURFACES)[number]) {
    this.#surface = surface;
    const agents = "  boss:\n    command: [node, boss.mjs]\n  worker:\n    command: [sh, worker.sh]\n";
    const config = `checks:\n  test: test -d .\nagents:\n${agents}`;
    this.project = makeRunProject(`managed by ${surface}`, undefined, config, {
      ...{ "boss.mjs": BOSS, "worker.sh": WORKER },
    });
    this.#asked = join(this.project.path, ".git/asked");
    mkdirSync(this.#asked);
    Object.assign(this.project.env, { PAWL: join(this.project.path, ".pawl/pawl.cjs"), ASKED: this.#asked });
  }

  /** A command of the skill, with words of its own in every bracket. */
  async follow(words: readonly string[]): Promise<Outcome> {
    if (this.#surface !== "MCP") return this.#ask({ words });
    const found = findCommand(Object.keys(operations), [...words]);
    const load = "id" in found ? operations[found.id] : undefined;
    if (!load || !("id" in found)) throw new Error(`no operation ${words.join(" ")}`);
    const { input } = parseLine(await load(), found.rest);
    return this.#ask({ tool: toolName(found.id), input });
  }

  /** Its program ends, and with it the run. */
  end(): void {
    this.#write({ end: true });
  }

  async #ask(request: object): Promise<Outcome> {
    const answer = `${this.#write(request)}.answer`;
    await this.project.waitFor("the manager's answer", () => existsSync(answer), 120);
    return JSON.parse(readFileSync(answer, "utf8")) as Outcome;
  }

  #write(request: object): string {
    const file = join(this.#asked, String(++this.#nth));
    writeFileSync(`${file}.new`, JSON.stringify(request));
    renameSync(`${file}.new`, file);
    return file;
  }
}
