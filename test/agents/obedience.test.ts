// @module-tag proof
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textIfReadable } from "../../src/files/read.ts";
import { agentsIn } from "../../src/model/actor.ts";
import { DISK, makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { type InstalledProject, makeProject } from "./installed-project.ts";
import { PROGRAMS, PROGRAMS_TIMEOUT_MS, type ProgramName, type Programs, realPrograms } from "./programs.ts";
import { type AgentResult, dialects, runAgent } from "./run-agent.ts";
import type { Step } from "./scripted-model.ts";

/**
 * The real programs, end to end: a model that follows a script on loopback, a home that is thrown away, no credentials and
 * no network. What reached the model, and what is in git and in the records afterwards, is the proof.
 */
const FORBIDDEN = "git commit --allow-empty --no-verify -m 'Go around the hooks'";
const TASK = "T0001";
/** What brings our hook to each program. */
const HOOKS = [
  ...[".claude/settings.json", ".codex/hooks.json", ".codex/rules/pawl.rules", ".gemini/settings.json"],
  ".opencode/plugins/pawl.js",
];

/** Those whose shells tell their session, and what records call them. */
const SESSIONS: Partial<Record<ProgramName, string>> = {
  ...{ claude: "claude-code", codex: "codex", copilot: "copilot" },
};

const linesIn = (file: string) =>
  (textIfReadable(file) ?? "").split("\n").filter((line) => line.startsWith("began "));
const signsIn = (line: string) =>
  Object.fromEntries(line.split(" ").map((one) => [one.split("=")[0], one.split("=")[1]]));

describe.each(PROGRAMS)("%s", (name: ProgramName) => {
  const { shell, mcp, skill, offered, unattended } = dialects[name];
  let programs: Programs;
  let project: InstalledProject;
  let run: AgentResult;
  let mainBefore: string;
  const { prompt, load } = skill("pawl");

  /** What the script's steps are answered with: the request after the step with this call or these words. */
  const toldAfter = (step: Step) => run.news(script.indexOf(step) + 1);

  const begin = { call: mcp("task_new", { title: "Retry uploads" }) };
  const start = { call: mcp("start", { task: TASK }) };
  const work = {
    call: shell(
      "(cd .worktrees/T0001-retry-uploads && echo retry > upload.txt && git add -A && git commit -m 'Retry')",
    ),
  };
  const goAround = { call: shell(FORBIDDEN) };
  const approve = { call: shell(`node .pawl/pawl.cjs approve ${TASK}`) };
  const ownCheck = { call: shell("(cd .worktrees/T0001-retry-uploads && node --test)") };
  const stop = { say: "The work is done." };
  const handOff = {
    call: mcp("handoff", { task: TASK, what: "Uploads are retried", next: "limit the backoff" }),
  };
  // Nothing can hold up the end of `opencode run`.
  const canBeHeld = name !== "opencode";
  const script: Step[] = [
    ...load,
    begin,
    start,
    work,
    goAround,
    approve,
    ownCheck,
    ...(canBeHeld ? [stop] : []),
    handOff,
    { say: "Bye." },
  ];

  beforeAll(async () => {
    programs = await realPrograms();
    project = makeProject(`agent ${name}`, "--agents", PROGRAMS.join(","));
    // Gemini's shell hides the user's own settings from git.
    project.git("config", "user.email", "ada@example.org");
    project.git("config", "user.name", "Ada");
    mainBefore = project.git("rev-parse", "main");
    run = await runAgent(programs, name, {
      ...{ folder: project.path, home: project.newHome(), prompt, script },
      ...unattended,
    });
  }, PROGRAMS_TIMEOUT_MS);
  afterAll(() => project?.remove());

  test("the conversation runs to its end", () => {
    expect(run.code, run.err).toBe(0);
    expect(run.requests).toHaveLength(script.length);
  });

  test("the first request says where the session stands", () => {
    expect(run.read(0)).toContain("This repository is managed with pawl.");
    expect(run.read(0)).toContain("No task is active.");
  });

  test("the skill's text reaches the model", () => {
    expect(run.read(load.length)).toContain("The repository remembers the work; begin with what it knows.");
  });

  test("our MCP tools are offered, can be called, and change the state", () => {
    const [first] = run.requests;
    expect(first && offered(first)).toEqual(
      expect.arrayContaining(["task_new", "start", "handoff", "session"]),
    );
    expect(first && offered(first)).not.toContain("approve");
    expect(toldAfter(begin)).toContain(TASK);
    expect(JSON.parse(project.pawl("task", "show", TASK, "--json")).data.task).toMatchObject({
      ...{ title: "Retry uploads", status: "active", branch: "task/T0001-retry-uploads" },
      actor: expect.stringMatching(/^agent:/),
    });
  });

  test("work in the task's own worktree is allowed", () => {
    expect(project.git("log", "-1", "--format=%s", "task/T0001-retry-uploads")).toBe("Retry");
  });

  test.runIf(name in SESSIONS)("the session's start is recorded under the name that its shell uses", () => {
    const folder = join(project.path, ".git/pawl/sessions");
    const noted = join(project.path, ".git/worktrees/T0001-retry-uploads/pawl-authors");
    const movers = (textIfReadable(noted) ?? "").split("\n").flatMap((line) => agentsIn(signsIn(line)));
    expect(movers).toHaveLength(1);
    const began = new RegExp(`^began \\d+ ${SESSIONS[name]}$`);
    expect(linesIn(join(folder, movers[0]?.session ?? "")).at(0)).toMatch(began);
  });

  test("the agent's own hook refuses a command that bypasses the hooks, so it does not run", () => {
    expect(toldAfter(goAround)).toContain("Refused by pawl. Hooks stay on.");
    expect(toldAfter(goAround)).not.toContain("main is protected, and nobody approved");
    expect(project.git("rev-parse", "main")).toBe(mainBefore);
  });

  test("an agent cannot approve, and is told what it can do instead", () => {
    expect(toldAfter(approve)).toContain("Only a human may approve a merge.");
    expect(toldAfter(approve)).toContain("pawl check --stage close");
    expect(project.records(TASK, "approvals")).toEqual([]);
  });

  test("a check that the agent ran itself is suggested as evidence", () => {
    expect(toldAfter(ownCheck)).toContain("pawl verify -- node --test");
  });

  test("an agent that stops without a handoff is reminded once, and writes one", () => {
    if (canBeHeld)
      expect(toldAfter(stop)).toContain("T0001 was changed in this session and has no handoff since.");
    expect(project.records(TASK, "handoffs")).toEqual(["H1.md"]);
    expect(project.pawl("session", TASK)).toContain("limit the backoff");
  });

  test("without the agent's hook, git refuses the same command", async () => {
    for (const file of HOOKS) rmSync(join(project.path, file));
    const bare = await runAgent(programs, name, {
      ...{ folder: project.path, home: project.newHome(), prompt: "Go on.", script: [goAround, stop] },
      ...unattended,
    });
    expect(bare.read(0)).not.toContain("This repository is managed with pawl.");
    expect(bare.news(1)).not.toContain("Refused by pawl.");
    if (project.git("rev-parse", "main") === mainBefore)
      expect(bare.news(1)).toContain("main is protected, and nobody has approved this change.");
    else {
      // Gemini's shell empties core.hooksPath: what git cannot stop there is found.
      expect(name).toBe("gemini");
      expect(whatFails(() => project.pawl("audit"))).toMatch(
        /unexplained[\s\S]*Go around the hooks|Go around the hooks[\s\S]*unexplained/,
      );
    }
  });

  test("without pawl, the same command makes a commit: nothing else prevents it", async () => {
    const root = makeTemporaryFolder(`control ${name}`, DISK);
    const plain = makeRepository(root);
    for (const [key, value] of Object.entries({ "user.email": "ada@example.org", "user.name": "Ada" }))
      execFileSync("git", ["config", key, value], { cwd: plain.path });
    const control = await runAgent(programs, name, {
      ...{ folder: plain.path, home: root, prompt: "Go on.", script: [goAround, stop] },
      ...unattended,
    });
    expect(control.news(1)).toContain("Go around the hooks");
    expect(existsSync(join(plain.path, ".git", "pawl"))).toBe(false);
    const log = execFileSync("git", ["log", "-1", "--format=%s"], { cwd: plain.path, encoding: "utf8" });
    expect(log.trim()).toBe("Go around the hooks");
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  });
});

/** What a command printed that ended as a failure. */
function whatFails(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return String((error as { stdout?: string }).stdout);
  }
  throw new Error("It ended well");
}
