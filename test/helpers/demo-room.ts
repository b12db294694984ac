import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { terminalFor } from "./pseudo-terminal.ts";
import { makeTemporaryFolder } from "./temporary-repository.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PATIENCE_MS = 120_000;

/** `npm run demo -- --ui` on a terminal of its own: a filled project, and the real `pawl ui` on it. */
export interface DemoRoom {
  /** The folder of the two repositories. */
  folder: string;
  env: Record<string, string | undefined>;
  /** A link that nobody has used yet. */
  link(): Promise<string>;
  type(line: string): void;
  /** Everything that the terminal showed so far. */
  shown(): string;
  /** Waits until the terminal shows this. */
  shows(what: RegExp): Promise<RegExpExecArray>;
  close(): Promise<void>;
}

export async function openDemoRoom(): Promise<DemoRoom> {
  const home = makeTemporaryFolder("room");
  mkdirSync(join(home, "tmp"));
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: join(home, "tmp"), NO_COLOR: "1" };
  const words = [process.execPath, join(root, "scripts/demo.mjs"), "--ui", "--built", "--no-open"];
  const [command, args] = terminalFor(words);
  const child = spawn(command, args, { cwd: root, env, stdio: ["pipe", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString("utf8").replaceAll("\r", "");
  });
  const ended = new Promise<void>((done) => child.on("close", () => done()));
  const shows = (what: RegExp) =>
    new Promise<RegExpExecArray>((found, fail) => {
      const until = Date.now() + PATIENCE_MS;
      const look = () => {
        const match = what.exec(out);
        if (match) found(match);
        else if (Date.now() > until || child.exitCode !== null)
          fail(new Error(`Never shown: ${what}\n${out}`));
        else setTimeout(look, 20);
      };
      look();
    });
  const close = async () => {
    // Ctrl-C, as a person would: the demo ends what it began.
    child.stdin.write("\u0003");
    await ended;
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const used: string[] = [];
  const [, folder = ""] = await shows(/repositories in (.+) …/);
  await shows(/enter#\S+/).catch(async (error) => {
    await close();
    throw error;
  });
  return {
    folder,
    env: { ...env, GIT_CONFIG_GLOBAL: join(folder, "gitconfig") },
    async link() {
      if (used.length > 0) child.stdin.write("\n");
      const last = used.at(-1);
      const [link = ""] = await shows(
        last === undefined ? /http:\S+#[\w-]+/ : new RegExp(`(?<=${last.slice(-22)}[^]*)http:\\S+#[\\w-]+`),
      );
      used.push(link);
      return link;
    },
    type: (line) => child.stdin.write(`${line}\n`),
    shown: () => out,
    shows,
    close,
  };
}
