import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import type { AgentAbove } from "../../src/files/agent-above.ts";
import { namesIfReadable } from "../../src/files/read.ts";
import { parseActor } from "../../src/model/actor.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { bundlePawl } from "../helpers/pseudo-terminal.ts";
import { ok } from "../helpers/ready-task.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

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
      expect(why).toMatch(/You wrote this work|this session was not seen to begin/);
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

describe("a human whom nobody can see, because there is no terminal,", { tags: ["proof"] }, () => {
  test("is heard, and counts for no gate", async ({ project }) => {
    await wrote(project);
    const script = project.unattended();
    for (const claim of [[], ["--actor", "human:Ada"], ["--actor", "agent:codex:c1"]]) {
      const words = ["review", "record", "T1", "--kind", "branch", "--verdict", "pass", "--looked-at", "x"];
      const { json } = await script.pawl(...words, ...claim, "--json");
      expect(json.data.review.counts, claim.join(" ")).toBe(false);
      if (claim[1] !== "agent:codex:c1")
        expect(json.warnings.join(" ")).toMatch(
          /no terminal here.*no gate will count it\. Do it in a terminal or on the page/,
        );
    }
    const begun = await script.pawl("review", "start", "T1", "--kind", "branch", "--json");
    expect(begun.json.data.review.counts).toBe(false);
    expect(begun.json.warnings.join(" ")).toMatch(/no terminal here/);
    expect((await review(project, {})).counts, "the same words on a terminal").toBe(true);
  });

  test("may not open a gate in any other way", async ({ project }) => {
    await ok(project.pawl("install", "--profile", "hooks", "--yes"));
    await ok(project.pawl("task", "new", "Other"));
    await ok(project.pawl("task", "new", "One", "--profile", "strict"));
    await ok(project.pawl("start", "T2"));
    await ok(project.pawl("task", "update", "T2", "--depends", "T1"));
    project.git("branch", "release/1");
    await ok(project.pawl("finding", "add", "Backdoor", "--severity", "high", "--task", "T2"));
    const file = join(stateOf(project), "tasks/T0002/task.md");
    writeFileSync(file, readFileSync(file, "utf8").replace("title: One", "title: Two"));
    const script = project.unattended();
    for (const words of [
      ["finding", "wontfix", "T2/F1", "--note", "x"],
      ["finding", "defer", "T2/F1", "--note", "x"],
      ["task", "update", "T2", "--profile", "light"],
      ["task", "update", "T2", "--base", "release/1"],
      ["task", "update", "T2", "--depends", ""],
      ["task", "update", "T2", "--parent", "T1"],
      ["task", "edit", "T2", "--adopt"],
    ]) {
      const { code, json } = await script.pawl(...words, "--json");
      expect([code, json.error?.code], words.join(" ")).toEqual([1, "no_terminal"]);
      expect(json.error.hint).toMatch(/in a terminal or on the page/);
      expect((await project.pawl(...words, "--dry-run")).code, words.join(" ")).toBe(0);
    }
    // What opens nothing is anybody's.
    await ok(script.pawl("finding", "add", "Another", "--severity", "low", "--task", "T2"));
    await ok(script.pawl("task", "update", "T2", "--notes", "seen by the nightly job"));
  });

  test("does not choose with which tools checks run, once they were chosen", async ({ project }) => {
    const kept = () => readFileSync(join(project.path, ".git/pawl/environment.json"), "utf8");
    const path = { PATH: `/elsewhere/bin:${project.env.PATH}` };
    const install = ["install", "--profile", "hooks", "--yes"];
    await ok(project.unattended().pawl(...install));
    const first = kept();
    for (const words of [install, ["doctor", "--fix"]])
      await project.unattended().pawlIn(project.path, path, ...words);
    expect(kept()).toBe(first);
    await ok(project.pawlIn(project.path, path, ...install));
    expect(kept()).toContain("/elsewhere/bin");
  });
});

describe.skipIf(process.platform !== "linux")(
  "an agent that scrubs its environment and leaves its family",
  () => {
    /** Who the real program takes for the reviewer, and whether that counts. */
    async function reviewedBy(project: Project, line: string): Promise<string> {
      const program = await bundlePawl(join(project.path, ".git/program"));
      const over = join(project.path, ".git/over");
      const words = "review record T1 --kind branch --verdict pass --looked-at x";
      const said = `'${process.execPath}' '${program}' ${words}; : > '${over}'`;
      writeFileSync(join(project.path, ".git/say"), said);
      // A group of its own, as agents start their shells; it lives on while what it left behind runs.
      const child = spawn("sh", ["-c", `${line}; while [ ! -e '${over}' ]; do sleep 0.1; done`], {
        ...{ cwd: project.path, env: { ...project.env, ...AUTHOR }, stdio: "ignore", detached: true },
        timeout: 60_000,
      });
      await new Promise((done) => child.on("close", done));
      const text = project.read("tasks/T0001/reviews/V1.md");
      return `${/^actor: (.*)$/m.exec(text)?.[1]}, ${/^counts: (.*)$/m.exec(text)?.[1]}`;
    }
    const SCRUBBED = 'env -i PATH="$PATH" HOME="$HOME"';

    test("is still that agent while it only let its parent end", async ({ project }) => {
      await wrote(project);
      const by = await reviewedBy(project, `(${SCRUBBED} sh .git/say </dev/null >/dev/null 2>&1 &)`);
      expect(by).toBe('"agent:claude-code:author", false');
    });

    test("is nobody who counts, in a session of its own without a terminal", async ({ project }) => {
      await wrote(project);
      const by = await reviewedBy(project, `${SCRUBBED} setsid -f sh .git/say </dev/null >/dev/null 2>&1`);
      expect(by).toMatch(/^"human:.*", false$/);
    });

    test("is told from nobody on a terminal that it made there: a promise", async ({ project }) => {
      await wrote(project);
      const pty = "script -qec 'sh .git/say' /dev/null";
      const by = await reviewedBy(project, `${SCRUBBED} setsid -f ${pty} </dev/null >/dev/null 2>&1`);
      expect(by).toMatch(/^"human:.*", true$/);
    });
  },
);

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
