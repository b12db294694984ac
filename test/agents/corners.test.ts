// @module-tag proof
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InstalledProject, makeProject } from "./installed-project.ts";
import { PROGRAMS_TIMEOUT_MS, type ProgramName, type Programs, realPrograms } from "./programs.ts";
import { dialects, runAgent } from "./run-agent.ts";
import type { RecordedRequest, Step } from "./scripted-model.ts";

/** Where a session is not the plain one at the repository's top: a sub-directory, a helper, a compaction. */
let programs: Programs;
let project: InstalledProject;

beforeAll(async () => {
  programs = await realPrograms();
  project = makeProject("corners", "--agents", "claude,codex,copilot");
  project.pawl("task", "new", "Retry uploads");
  // A human starts it: nothing but the commit tells who wrote the work.
  project.pawl("start", "T0001");
}, PROGRAMS_TIMEOUT_MS);
afterAll(() => project?.remove());

const GO_AROUND = "git commit --no-verify --allow-empty -m 'Go around the hooks'";

test("an agent started in a sub-folder gets the session's text and the refusals too", async () => {
  const folder = join(project.path, "src", "deep");
  mkdirSync(folder, { recursive: true });
  const inThere = async (name: ProgramName) => {
    const { shell, unattended } = dialects[name];
    const script = [{ call: shell(GO_AROUND) }, { say: "Bye." }];
    const run = { folder, root: project.path, home: project.newHome(), prompt: "Go on.", script };
    const { read, news } = await runAgent(programs, name, { ...run, ...unattended });
    return [
      name,
      read(0).includes("This repository is managed with pawl."),
      news(1).includes("Refused by pawl. Hooks stay on."),
    ];
  };
  // Claude Code reads no settings there, and `pawl doctor` says so.
  const names = ["codex", "copilot"] as const;
  expect(await Promise.all(names.map(inThere))).toEqual(names.map((name) => [name, true, true]));
}, 120_000);

test("a subagent counts as its session, and compaction keeps the task and its worktree", async () => {
  const { shell, unattended } = dialects.claude;
  const session = "bbbbbbbb-0000-4000-8000-000000000002";
  const home = project.newHome();
  const worktree = project.worktree("T0001-retry-uploads");
  const review =
    "node .pawl/pawl.cjs review record T0001 --kind branch --verdict pass --looked-at upload.txt";
  const commit = "echo retry > upload.txt && git add -A && git commit -qm Retry";
  const helper: Step[] = [
    { call: shell(GO_AROUND) },
    { call: shell("node .pawl/pawl.cjs approve T0001") },
    { call: shell(`cd '${worktree}' && ${review}`) },
    { say: "Reviewed." },
  ];
  const input = { description: "a review", prompt: "Help.", subagent_type: "general-purpose" };
  const author: Step[] = [
    { call: shell(`cd '${worktree}' && ${commit}`) },
    { call: { name: "Agent", input: { ...input, run_in_background: false } } },
    { say: "Bye." },
  ];
  const isAuthors = ({ text }: RecordedRequest) => text.includes("Write it yourself.");
  const steps = [0, 1, 2, 3].map((at): Step => {
    const turn = (steps: Step[]) => (steps[at] ?? { say: "Bye." }) as { say: string };
    return (request) => turn(isAuthors(request) ? author : helper);
  });
  const go = (prompt: string, script: Step[], ...args: string[]) =>
    runAgent(programs, "claude", {
      ...{ folder: project.path, home, prompt, script },
      ...{ args: [...unattended.args, ...args], env: { ...unattended.env } },
    });
  const first = await go("Write it yourself.", steps, "--session-id", session);
  const told = first.requests.filter((request) => !isAuthors(request)).map(({ news }) => news);
  expect(told.slice(1)).toEqual([
    expect.stringContaining("Refused by pawl. Hooks stay on."),
    expect.stringContaining("Only a human may approve a merge."),
    expect.stringContaining("You wrote this work"),
  ]);
  expect(project.records("T0001", "reviews")).toEqual(["V1.md"]);

  const summary = await go("/compact", [], "--resume", session);
  expect(summary.read(0)).toContain(
    `Keep in the summary: this session works on T0001, in the worktree ${worktree}.`,
  );
  const after = await go("Go on.", [], "--resume", session);
  expect(after.read(0)).toContain(`worktree: ${worktree} (work there)`);
}, 180_000);
