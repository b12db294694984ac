import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { makeRunProject, type RunProject } from "../agents/supervised.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { openHouse, visit } from "../helpers/page.ts";

const SESSION = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "one" };
const REVIEWER = { CODEX_SESSION_ID: "two" };

async function underWay(project: Project): Promise<void> {
  await project.pawl("task", "new", "Retry uploads", "--profile", "light");
  await project.pawl("task", "new", "Sort names", "--profile", "light");
  await project.pawlIn(project.path, SESSION, "start", "T1");
}

const send = (project: Project, ...words: string[]) => project.pawl("mail", "send", ...words, "--json");
const asOne = (project: Project, ...words: string[]) => project.pawlIn(project.path, SESSION, ...words);

describe("a message", () => {
  test("waits for whoever works on the task, is read whole, and goes forward only", async ({ project }) => {
    await underWay(project);
    const sent = await send(project, "T1", "The key is in the vault\nUnder uploads");
    expect(sent.json.data.message).toMatchObject({ id: "T0001/M1", to: "T0001", status: "open" });
    const { out } = await asOne(project, "session");
    expect(out).toMatch(/unread mail: 1 .*\n {2}T0001\/M1 from human:[^:]+: The key is in the vault$/m);
    const read = await asOne(project, "mail", "ack", "M1", "--task", "T1");
    expect(read.out).toContain("The key is in the vault\nUnder uploads");
    expect((await asOne(project, "session")).out).not.toContain("unread mail");
    expect(
      (await asOne(project, "mail", "ack", "T1/M1", "--close", "--json")).json.data.message,
    ).toMatchObject({ status: "closed", acknowledged_by: "agent:claude-code:one", rev: 3 });
    const back = await asOne(project, "mail", "ack", "T1/M1", "--json");
    expect(back).toMatchObject({ code: 0, json: { data: { message: { status: "closed", rev: 3 } } } });
    expect((await project.pawl("mail", "list")).out).toBe("no mail\n");
    expect((await project.pawl("mail", "list", "T1", "--all")).out).toMatch(/^T0001\/M1 +closed/);
  });

  test("to the human is theirs: in the inbox until they have read it, and no agent's to settle", async ({
    project,
  }) => {
    await underWay(project);
    await asOne(project, "mail", "send", "human", "Which of the two formats?", "--task", "T1");
    const { json } = await project.pawl("inbox", "--json");
    expect(json.data.inbox.needs_you[0]).toMatchObject({
      ...{ kind: "mail", task: "T0001", command: "pawl mail ack T0001/M1" },
      why: "agent:claude-code:one wrote: Which of the two formats?",
      ...{ who: "claude-code", since: expect.stringMatching(/^20.*Z$/) },
    });
    // The same as on the page, by the clock of whoever reads it.
    const said = (await project.pawl("inbox")).out;
    expect(said).toMatch(/claude-code, 20\d\d-\d\d-\d\d \d\d:\d\d( UTC)? +pawl mail ack T0001\/M1\n/);
    const later = openHouse(project, { now: () => Date.now() + 300_000 });
    expect(String((await visit(later)("/")).body)).toContain(
      '<span class="tag human">message</span><span class="dim small">claude-code · 5 min</span>',
    );
    const refused = await asOne(project, "mail", "ack", "T1/M1", "--json");
    expect(refused).toMatchObject({ code: 1, json: { error: { code: "not_your_mail" } } });
    expect((await project.pawl("mail", "ack", "T1/M1")).code).toBe(0);
    const after = await project.pawl("inbox", "--json");
    expect(after.json.data.inbox.needs_you.map((one: { kind: string }) => one.kind)).not.toContain("mail");
  });

  test("to a run or a lane has to be one that is there, and is nobody else's to settle", async ({
    project,
  }) => {
    await underWay(project);
    await project.pawl("lane", "add", "T1", "--path", "src");
    expect((await send(project, "T1/L1", "Mind the tests")).json.data.message.to).toBe("T0001/L1");
    expect((await send(project, "R1", "You", "--task", "T1")).json.data.message.to).toBe("T0001/R1");
    expect((await asOne(project, "session", "T1")).out).toContain("unread mail: 2");
    for (const env of [REVIEWER, { ...REVIEWER, PAWL_RUN: "T0001/R1" }])
      expect(await project.pawlIn(project.path, env, "mail", "ack", "T1/M2", "--json")).toMatchObject({
        code: 1,
        json: { error: { code: "not_your_mail" } },
      });
    for (const [to, code, exit] of [
      ["T1/R9", "no_run", 4],
      ["T1/L9", "no_lane", 4],
      ["T9", "no_task", 4],
      ["T1/F1", "bad_task_id", 3],
      ["everybody", "bad_task_id", 3],
      ["manager", "no_manager", 1],
    ] as const)
      expect(await send(project, to, "Hello"), to).toMatchObject({ code: exit, json: { error: { code } } });
    expect((await send(project, "bob", "Hello")).json.error.hint).toMatch(
      /task .*lane .*run .*manager.*human/,
    );
  });
});

describe("a run that came after another", { tags: ["proof"] }, () => {
  let project: RunProject;
  const AGENT = `
cat > /dev/null
case "$(cat "$FLAG" 2>/dev/null)" in wait) echo waiting; sleep 300 ;; esac
node "$PAWL" session; node "$PAWL" mail ack "$PAWL_TASK/M1" --json; node "$PAWL" mail list "$PAWL_TASK"
`;
  const promptOf = (run: string, number = 1) =>
    readFileSync(join(project.attempt(run, number).path, "in"), "utf8");

  beforeAll(() => {
    const config = "agents:\n  mine:\n    command: [sh, agent.sh]\n";
    project = makeRunProject("mail", undefined, config, { "agent.sh": AGENT, flag: "wait" });
    Object.assign(project.env, {
      PAWL: join(project.path, ".pawl/pawl.cjs"),
      FLAG: join(project.path, "flag"),
    });
  });
  afterAll(() => project.remove());

  test("gets nothing that was meant for the run before it, and that run gets it when it resumes", async () => {
    await project.pawl("task", "new", "First");
    await project.pawl("run", "T1", "--agent", "mine");
    await project.waitFor("it waits", () => project.left("T0001/R1") > 0);
    await project.pawl("mail", "send", "T1/R1", "Throw your changes away");
    await project.pawl("mail", "send", "T1", "Stop what you do", "--run", "R1");
    await project.pawl("mail", "send", "T1", "The key is in the vault");
    await project.pawl("run", "stop", "T1", "--grace", "1s");
    project.env.FLAG = "";

    const second = await project.pawl("run", "T1", "--agent", "mine", "--json");
    expect(second.json.data.runs[0].id).toBe("T0001/R2");
    await project.pawl("run", "wait", "T1/R2");
    const prompt = promptOf("T0001/R2");
    expect(prompt).toMatch(/## Mail\n\nT0001\/M3 from human:[^:]+:\n> The key is in the vault\n/);
    expect(prompt).not.toMatch(/Throw your|Stop what/);
    const log = (await project.pawl("run", "log", "T1/R2")).out;
    expect(log).toContain("unread mail: 1 ");
    expect(log).toContain('"code":"not_your_mail"');
    expect(log).toMatch(/T0001\/M1 +overtaken by T0001\/R2/);

    const late = await project.pawl("mail", "send", "T1/R1", "Are you there?", "--json");
    expect(late).toMatchObject({
      code: 1,
      json: { error: { code: "run_over", details: { after: "T0001/R2" } } },
    });

    await project.pawl("run", "resume", "T1/R1");
    await project.pawl("run", "wait", "T1/R1");
    expect(promptOf("T0001/R1", 2)).toMatch(
      /> Throw your changes away[\s\S]*> Stop what you do[\s\S]*> The key/,
    );
    expect(project.read("tasks/T0001/mail/M1.md")).toMatch(/status: acknowledged/);
  }, 60_000);
});
