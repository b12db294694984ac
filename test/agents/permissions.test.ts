// @module-tag proof
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askProgram } from "./ask-program.ts";
import { type InstalledProject, makeProject } from "./installed-project.ts";
import { PROGRAMS_TIMEOUT_MS, type Programs, realPrograms } from "./programs.ts";
import { dialects, runAgent } from "./run-agent.ts";

/** What Claude Code does in its ordinary mode, in a folder that a person trusts: nothing is skipped, nothing is said yes to. */
let programs: Programs;
const projects: InstalledProject[] = [];

beforeAll(async () => {
  programs = await realPrograms();
}, PROGRAMS_TIMEOUT_MS);

afterAll(() => {
  for (const one of projects) one.remove();
});

function trusted(name: string, ...options: string[]): { project: InstalledProject; home: string } {
  const project = makeProject(name, ...options);
  projects.push(project);
  const home = project.newHome();
  mkdirSync(join(home, ".claude"), { recursive: true });
  const accepted = { projects: { [project.path]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(home, ".claude", ".claude.json"), JSON.stringify(accepted));
  return { project, home };
}

const { shell, mcp } = dialects.claude;
const CALLS = [
  mcp("session", {}),
  shell("node .pawl/pawl.cjs session"),
  mcp("task_new", { title: "Retry uploads" }),
  shell("node .pawl/pawl.cjs decide 'Retry' --why 'It fails' --task T1"),
  mcp("verify", { command: ["true"], task: "T1" }),
  shell("node .pawl/pawl.cjs verify --task T1 -- true"),
];

/** Which of the calls it ran without a person. */
async function ran(name: string, ...options: string[]): Promise<boolean[]> {
  const { project, home } = trusted(name, ...options);
  const script = [...CALLS.map((call) => ({ call })), { say: "Bye." }, { say: "Bye." }];
  const run = { folder: project.path, home, prompt: "Go on.", script };
  const { news } = await runAgent(programs, "claude", run);
  return CALLS.map((_call, at) => !/haven't granted|requires approval|permission/i.test(news(at + 1)));
}

describe("Claude Code in its ordinary mode", () => {
  test("asks before every pawl command and tool by default", async () => {
    expect(await ran("asks")).toEqual([false, false, false, false, false, false]);
  }, 120_000);

  test("with the allow list, reads and records without asking, but asks before running programs", async () => {
    expect(await ran("allows", "--with", "allow")).toEqual([true, true, true, true, false, false]);
  }, 120_000);

  test("connects to our server without another question once the folder is trusted", async () => {
    const { project, home } = trusted("connects");
    const { out } = await askProgram(programs, "claude", { folder: project.path, home }, "mcp", "list");
    expect(out).toMatch(/^pawl: node .*Connected$/m);
  }, 120_000);
});
