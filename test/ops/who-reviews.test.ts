import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import type { AgentAbove } from "../../src/files/agent-above.ts";
import { namesIfReadable } from "../../src/files/read.ts";
import { parseActor } from "../../src/model/actor.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";

const session = (id: string) => ({ CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: id });
const AUTHOR = session("author");
const CODEX = { CODEX_SESSION_ID: "c1" };

/** A process above, with the signs of a session or only with an agent's program. */
const above = (actor: string, variable: string | undefined = "A_SIGN"): AgentAbove => ({
  actor: parseActor(actor),
  ...{ pid: 7, program: "sh", variable, guard: false },
});

async function wrote(project: Project): Promise<void> {
  await ok(project.pawl("task", "new", "One"));
  project.begin(AUTHOR);
  await ok(project.pawlIn(project.path, AUTHOR, "verify", "T1", "--", "test", "-d", "."));
}

async function review(project: Project, env: Record<string, string>) {
  const words = ["review", "record", "T1", "--kind", "branch", "--verdict", "pass", "--looked-at", "x"];
  const { json } = await project.pawlIn(project.path, env, ...words, "--json");
  return { counts: json.data.review.counts, by: json.data.review.actor, why: json.warnings.join(" ") };
}

describe("a review of one's own work, by", () => {
  test("a session that nobody saw begin, whatever it calls itself", async ({ project }) => {
    await wrote(project);
    for (const env of [
      session("other"),
      session("author "),
      session("Author"),
      session("unnamed"),
      { CLAUDECODE: "1" },
      { CODEX_SESSION_ID: "author" },
      { CODEX_SESSION_ID: "c1" },
      { GEMINI_CLI: "1" },
      { AI_AGENT: "x" },
    ]) {
      const { counts, why } = await review(project, env);
      expect(counts, JSON.stringify(env)).toBe(false);
      expect(why).toMatch(/You wrote this work|nobody saw this session begin/);
    }
  });

  test("a process that changed its session, put on another agent's or dropped everything", async ({
    project,
  }) => {
    await wrote(project);
    project.begin(session("other"), CODEX);
    const helper = project.below(above("agent:claude-code:author"));
    for (const env of [session("other"), CODEX, {}])
      expect(await review(helper, env)).toMatchObject({ counts: false, by: "agent:claude-code:author" });
    // The shell gave way to the command, so that only the agent's own program is above.
    const program = project.below(above("agent:claude-code", undefined));
    for (const env of [CODEX, {}]) expect((await review(program, env)).counts).toBe(false);
  });

  test("what it recorded under another name is still its own", async ({ project }) => {
    await ok(project.pawl("task", "new", "One"));
    project.begin(AUTHOR, session("other"));
    const changed = project.below(above("agent:claude-code:author"));
    await ok(changed.pawlIn(project.path, session("other"), "verify", "T1", "--", "test", "-d", "."));
    expect((await review(project, AUTHOR)).counts).toBe(false);
    expect((await review(project, session("other"))).counts).toBe(true);
  });
});

describe("a second pair of eyes", () => {
  test("is a session that began, of the same agent or another one, and a human", async ({ project }) => {
    await wrote(project);
    project.begin(session("other"), CODEX, { GEMINI_CLI: "1" });
    for (const env of [session("other"), CODEX, { GEMINI_CLI: "1" }, {}])
      expect((await review(project, env)).counts, JSON.stringify(env)).toBe(true);
    // Its own program above it is no news.
    const own = project.below(above("agent:codex:c1"), above("agent:codex", undefined));
    expect((await review(own, CODEX)).counts).toBe(true);
  });

  test("is an agent that pawl started, whoever asked for it", async ({ project }) => {
    await wrote(project);
    const run = { PAWL_RUN: "T0001/R1", PAWL_AGENT: "codex" };
    const guard = { ...above("agent:codex"), guard: true };
    expect((await review(project.below(guard), run)).counts).toBe(true);
    expect((await review(project.below(guard), { ...run, CODEX_SESSION_ID: "new" })).counts).toBe(true);
    expect((await review(project, run)).counts, "without the guard it is a word").toBe(false);
    const author = { ...above("agent:claude-code:author"), guard: true };
    expect((await review(project.below(author), { ...run, ...session("made-up") })).counts).toBe(false);
  });
});

describe.skipIf(process.platform !== "linux")("a session that begins", () => {
  /** As an agent's shell does it, which stays while what it started runs. */
  function pipeStart(project: Project, env: Record<string, string>, agent: string, id: string, line: string) {
    const file = join(project.path, ".git/start.json");
    mkdirSync(dirname(file), { recursive: true });
    const input = { hook_event_name: "SessionStart", session_id: id, cwd: project.path };
    writeFileSync(file, JSON.stringify(input));
    const hook = `'${process.execPath}' '${join("dist", "hook.cjs")}'`;
    const words = line.replace(
      "HOOK",
      `${hook.replace("dist", join(process.cwd(), "dist"))} ${agent} < '${file}'`,
    );
    spawnSync("sh", ["-c", `${words}; true`], { cwd: project.path, env: { ...project.env, ...env } });
    // That the hook ran is noted of every session; that one began only of those that did.
    const folder = join(project.path, ".git/pawl/sessions");
    return namesIfReadable(folder).filter((name) =>
      /^began /m.test(readFileSync(join(folder, name), "utf8")),
    );
  }

  test("is one that its agent started, and none that another session pipes into the hook", async ({
    project,
  }) => {
    expect(pipeStart(project, {}, "claude", "s1", "HOOK")).toEqual(["s1"]);
    expect(pipeStart(project, session("s2"), "claude", "s2", "HOOK")).toEqual(["s1", "s2"]);
    const clear = 'env -i PATH="$PATH" HOME="$HOME"';
    for (const [id, agent, line] of [
      ["f1", "claude", "HOOK"],
      ["f2", "claude", `${clear} HOOK`],
      ["f3", "claude", "CLAUDE_CODE_SESSION_ID=f3 HOOK"],
      ["f4", "codex", `${clear} CODEX_SESSION_ID=f4 HOOK`],
      ["f5", "claude", `${clear} PAWL_RUN=T0001/R1 PAWL_AGENT=claude-code sh -c "HOOK; true"`],
    ] as const)
      expect(pipeStart(project, AUTHOR, agent, id, line), line).toEqual(["s1", "s2"]);
  });
});
