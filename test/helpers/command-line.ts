import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test as base, expect } from "vitest";
import { main } from "../../src/cli/main.ts";
import type { AgentAbove } from "../../src/files/agent-above.ts";
import { noteBeginning } from "../../src/files/sessions.ts";
import { agentsIn } from "../../src/model/actor.ts";
import { mistakesIn } from "./check-schema.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  stateOf,
  type TemporaryRepository,
} from "./temporary-repository.ts";

export interface Result {
  code: number;
  out: string;
  err: string;
  /** The envelope of a call with --json. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
}

export interface Project extends TemporaryRepository {
  /** Runs pawl inside this process, at the top of the project or in a folder of it. */
  pawl(...argv: string[]): Promise<Result>;
  pawlIn(folder: string, env: Record<string, string>, ...argv: string[]): Promise<Result>;
  git(...args: string[]): string;
  write(path: string, text: string): void;
  /** A record's text, by its path in the state folder. */
  read(path: string): string;
  commit(path: string, text: string): string;
  /** Sessions of agents that begin, as their own hooks tell; a review of any other counts for nothing. */
  begin(...sessions: Record<string, string>[]): void;
  /** The same project, seen by a process that descends from these agents. */
  below(...above: AgentAbove[]): Project;
  /** The same project, with nobody at a terminal: a script, or a process that left an agent's family. */
  unattended(): Project;
}

export function openProject(
  repository: TemporaryRepository,
  above: AgentAbove[] = [],
  attended = true,
): Project {
  const call = async (cwd: string, env: Record<string, string>, argv: string[]): Promise<Result> => {
    let [out, err] = ["", ""];
    const code = await main(argv, {
      cwd,
      env,
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += String(text);
      },
      outIsTerminal: () => false,
      errIsTerminal: () => false,
      // A human who says what the command line says, and types nothing.
      atTerminal: () => attended,
      ask: async () => undefined,
      readText: (path) => readFileSync(join(cwd, path), "utf8"),
      agentsAbove: () => above,
    });
    const json = argv.includes("--json") ? JSON.parse(out) : undefined;
    // Whatever a test asks, the answer has to be what `pawl schema` says of it.
    if (json) expect(mistakesIn("answer", json), argv.join(" ")).toEqual([]);
    return { code, out, err, json };
  };
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: repository.path,
      env: repository.env,
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(repository.path, path)), { recursive: true });
    writeFileSync(join(repository.path, path), text);
  };
  return {
    ...repository,
    git,
    write,
    pawl: (...argv) => call(repository.path, repository.env, argv),
    pawlIn: (folder, env, ...argv) => call(folder, { ...repository.env, ...env }, argv),
    read: (path) => readFileSync(join(stateOf(repository), path), "utf8"),
    begin(...sessions) {
      for (const agent of sessions.flatMap(agentsIn)) noteBeginning(join(repository.path, ".git"), agent, 0);
    },
    below: (...agents) => openProject(repository, agents),
    unattended: () => openProject(repository, above, false),
    commit(path, text) {
      write(path, text);
      git("add", "-A");
      git("commit", "-q", "-m", `Change ${path}`);
      return git("rev-parse", "HEAD");
    },
  };
}

/** Every test gets a real git repository of its own, in a folder with a space in its name. */
export const test = base.extend<{ project: Project }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the wanted fixtures from this pattern
  project: async ({}, use) => {
    const root = makeTemporaryFolder("test");
    await use(openProject(makeRepository(root)));
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  },
});
