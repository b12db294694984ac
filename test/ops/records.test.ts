import { createHash } from "node:crypto";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";

const AUTHOR = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
const FRESH = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s2" };

describe("tasks", () => {
  test("an update names its rev and loses when it is stale", async ({ project }) => {
    await project.pawl("task", "new", "One");
    expect((await project.pawl("task", "update", "T1", "--title", "Two", "--rev", "1")).code).toBe(0);
    const { code, json } = await project.pawl(
      "task",
      "update",
      "T1",
      "--title",
      "Three",
      "--rev",
      "1",
      "--json",
    );
    expect({ code, error: json.error.code, details: json.error.details }).toEqual({
      code: 5,
      error: "stale_rev",
      details: { id: "T0001", rev: 2, expected: 1 },
    });
    expect((await project.pawl("task", "show", "T1", "--json")).json.data.task).toMatchObject({
      title: "Two",
      rev: 2,
    });
  });

  test("a blocker blocks, going on clears it, and blocked needs one", async ({ project }) => {
    await project.pawl("task", "new", "One");
    expect(
      (await project.pawl("task", "update", "T1", "--status", "blocked", "--json")).json.error.code,
    ).toBe("blocker_needed");
    await project.pawl("task", "update", "T1", "--blocker", "no key yet");
    expect((await project.pawl("task", "list", "--json")).json.data.tasks[0]).toMatchObject({
      status: "blocked",
      blocker: "no key yet",
    });
    await project.pawl("task", "update", "T1", "--status", "active");
    expect((await project.pawl("task", "list", "--json")).json.data.tasks[0].blocker).toBeUndefined();
    expect(await project.pawl("task", "update", "T1", "--status", "merged", "--json")).toMatchObject({
      code: 1,
      json: { error: { code: "bad_transition" } },
    });
    expect(await project.pawl("task", "update", "T1", "--json")).toMatchObject({
      code: 3,
      json: { error: { code: "nothing_to_change" } },
    });
  });

  test("lists are replaced, and an empty value clears them", async ({ project }) => {
    await project.pawl("task", "new", "One", "--label", "a", "--label", "b");
    await project.pawl("task", "update", "T1", "--label", "c", "--next", "first", "--next", "second");
    expect((await project.pawl("task", "show", "T1", "--json")).json.data.task).toMatchObject({
      labels: ["c"],
      next: ["first", "second"],
    });
    await project.pawl("task", "update", "T1", "--label=", "--next=");
    expect((await project.pawl("task", "show", "T1", "--json")).json.data.task).toMatchObject({
      labels: [],
      next: [],
    });
  });

  test("ready respects dependencies, and circles are refused", async ({ project }) => {
    await project.pawl("task", "new", "First");
    await project.pawl("task", "new", "Second", "--depends", "T1");
    const ready = async () =>
      (await project.pawl("task", "ready", "--json")).json.data.tasks.map((task: { id: string }) => task.id);
    expect(await ready()).toEqual(["T0001"]);
    expect((await project.pawl("task", "update", "T1", "--depends", "T2", "--json")).json.error.code).toBe(
      "dependency_cycle",
    );
    expect(await project.pawl("task", "new", "Third", "--depends", "T9", "--json")).toMatchObject({
      code: 4,
      json: { error: { code: "no_task" } },
    });
    await project.pawl("task", "update", "T1", "--status", "dropped");
    expect(await ready()).toEqual([]);
  });

  test("archived is a mark: out of sight, never out of the folder", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("task", "update", "T1", "--status", "active");
    expect((await project.pawl("task", "archive", "T1", "--json")).json.error.code).toBe("task_under_way");
    await project.pawl("task", "update", "T1", "--status", "dropped");
    await project.pawl("task", "archive", "T1");
    expect((await project.pawl("task", "list", "--json")).json.data.tasks).toEqual([]);
    expect((await project.pawl("task", "list", "--all", "--json")).json.data.tasks).toHaveLength(1);
    await project.pawl("task", "new", "Two");
    expect((await project.pawl("task", "list", "--json")).json.data.tasks[0].id).toBe("T0002");
    await project.pawl("task", "archive", "T1", "--undo");
    expect((await project.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(2);
  });

  test("a plan comes from a file or standard input, headings and all, with its digest", async ({
    project,
  }) => {
    const plan = "# Plan\n\n## Step 1\n\n```sh\n## not a heading\n```\n\n## Notes\n\nmine";
    project.write("plan.md", `${plan}\n`);
    await project.pawl("task", "new", "One", "--plan-file", "plan.md", "--acceptance", "it works");
    const { task } = (await project.pawl("task", "show", "T1", "--json")).json.data;
    expect(task).toMatchObject({
      plan,
      acceptance: "it works",
      plan_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(project.read("tasks/T0001/task.md")).toContain(plan);
  });

  test("the editor's text is checked before it is taken", async ({ project }) => {
    await project.pawl("task", "new", "One");
    const edit = (script: string) =>
      project.pawlIn(project.path, { EDITOR: script }, "task", "edit", "T1", "--json");
    const good = await edit("sed -i 's/title: One/title: Won/'");
    expect(good.json.data.task).toMatchObject({ title: "Won", rev: 2 });
    const before = project.read("tasks/T0001/task.md");
    const bad = await edit("sed -i 's/status: open/status: opne/'");
    expect(bad).toMatchObject({
      code: 1,
      json: { error: { code: "broken_edit", details: { key: "status" } } },
    });
    expect(bad.json.error.hint).toContain(bad.json.error.details.kept);
    expect(project.read("tasks/T0001/task.md")).toBe(before);
    expect((await edit("false")).json.error.code).toBe("editor_failed");
    expect((await project.pawlIn(project.path, {}, "task", "edit", "T1", "--json")).json.error.code).toBe(
      "no_editor",
    );
  });
});

describe("which task", () => {
  test("the argument, the branch's, the only active one, else a refusal that lists them", async ({
    project,
  }) => {
    const show = async (...argv: string[]) => (await project.pawl("task", "show", ...argv, "--json")).json;
    const none = (await show()).error;
    expect(none).toMatchObject({ code: "which_task", details: { candidates: [] } });
    expect(none.hint).toMatch(/^Start one, /);
    await project.pawl("task", "new", "One");
    await project.pawl("task", "update", "T1", "--status", "dropped");
    // What is over can still be looked at.
    expect((await show()).error.hint).toMatch(
      /^Name one of those that `pawl task list` shows, or start one, /,
    );
    await project.pawl("task", "update", "T1", "--status", "open");
    await project.pawl("task", "new", "Two");
    expect((await show()).error).toMatchObject({
      code: "which_task",
      details: { candidates: ["T0001", "T0002"] },
    });
    await project.pawl("task", "update", "T2", "--status", "active");
    expect((await show()).data.task.id).toBe("T0002");
    await project.pawl("task", "update", "T1", "--status", "active");
    expect((await show()).error.details.candidates).toEqual(["T0001", "T0002"]);
    expect((await show("--task", "t1")).data.task.id).toBe("T0001");
    expect(await show("T3")).toMatchObject({ ok: false, error: { code: "no_task" } });
  });

  test("session and status without a task exit 0 and say what to do", async ({ project }) => {
    const task = 'pawl start "<title>"';
    const nextOf = async (command: string) => {
      const { code, json } = await project.pawl(command, "--json");
      expect([code, json.ok]).toEqual([0, true]);
      return json.next.command;
    };
    expect([await nextOf("session"), await nextOf("status")]).toEqual([task, "pawl install"]);
    await project.pawl("install");
    expect([await nextOf("session"), await nextOf("status")]).toEqual([task, "pawl install --commit"]);
    project.git("switch", "-q", "-c", "setup");
    await project.pawl("install", "--commit");
    expect([await nextOf("session"), await nextOf("status")]).toEqual([task, task]);
  });
});

describe("evidence", () => {
  test("is what pawl saw: exit code, output, head, and the tree with uncommitted files", async ({
    project,
  }) => {
    await project.pawl("task", "new", "One");
    project.write("new file.txt", "uncommitted\n");
    const before = project.git("status", "--porcelain");
    const { code, json, err } = await project.pawl(
      "verify",
      "T1",
      "--json",
      "--",
      "sh",
      "-c",
      "echo out; echo err >&2; exit 3",
    );
    expect(code).toBe(1);
    expect(err).toContain("out\n");
    const one = json.data.evidence;
    expect(one).toMatchObject({
      id: "T0001/E1",
      kind: "check",
      exit_code: 3,
      dirty: true,
      unstable: false,
      output: "out\nerr",
    });
    expect(one.head).toBe(project.git("rev-parse", "HEAD"));
    expect(project.git("status", "--porcelain")).toBe(before);
    expect(() => project.git("cat-file", "-e", one.tree)).toThrow();
    project.git("add", "-A");
    expect(project.git("write-tree")).toBe(one.tree);
  });

  test("a red that passes is refused, and so is a command that cannot run", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("slice", "open", "Step", "--task", "T1");
    const red = (...command: string[]) =>
      project.pawl("verify", "T1", "--slice", "S1", "--red", "--json", "--", ...command);
    expect(await red("true")).toMatchObject({ code: 1, json: { error: { code: "red_passed" } } });
    expect(await red("no-such-command-here")).toMatchObject({
      code: 1,
      json: { error: { code: "red_not_run" } },
    });
    expect((await project.pawl("task", "show", "T1", "--json")).json.data.evidence).toEqual([]);
    expect((await red("test", "-f", "made")).json.data.evidence).toMatchObject({
      kind: "red",
      slice: "S1",
      exit_code: 1,
    });
    project.write("made", "");
    const passes = (...command: string[]) =>
      project.pawl("verify", "T1", "--slice", "S1", "--json", "--", ...command);
    expect((await passes("test", "-f", "made")).json.data.evidence).toMatchObject({
      id: "T0001/E2",
      kind: "green",
    });
    // Another command that passes proves nothing about the one that failed.
    await passes("true");
    const closed = await project.pawl("slice", "close", "S1", "--task", "T1", "--decision", "so", "--json");
    expect(closed.json.data.slice).toMatchObject({
      status: "closed",
      red: "T0001/E1",
      green: "T0001/E2",
      decision: "T0001/D1",
    });
    expect(await project.pawl("slice", "close", "S1", "--task", "T1", "--decision", "so")).toMatchObject({
      code: 1,
    });
    expect(await project.pawl("verify", "T1", "--slice", "S9", "--", "test", "-d", ".")).toMatchObject({
      code: 4,
    });
  });

  test("a check that changes files belongs to no tree, and is said to", async ({ project }) => {
    await project.pawl("task", "new", "One");
    const { json } = await project.pawl("verify", "T1", "--json", "--", "sh", "-c", "echo x > made.txt");
    expect(json.data.evidence.unstable).toBe(true);
    expect(json.warnings[0]).toContain("the check changed files");
  });

  test("without a command the checks of the config run, all of them", async ({ project }) => {
    await project.pawl("task", "new", "One");
    expect((await project.pawl("verify", "T1", "--json")).json.error.code).toBe("no_checks");
    project.write(
      ".pawl/config.yaml",
      "# ours\nprofile: light\nchecks:\n  test: echo tested && true\n  lint: [sh, -c, exit 4]\n",
    );
    const { code, json } = await project.pawl("verify", "T1", "--json");
    expect(code).toBe(1);
    expect(
      json.data.evidence.map((one: { check: string; exit_code: number }) => [one.check, one.exit_code]),
    ).toEqual([
      ["test", 0],
      ["lint", 4],
    ]);
    expect((await project.pawl("verify", "T1", "--check", "test")).code).toBe(0);
    expect((await project.pawl("task", "new", "Two", "--json")).json.data.task.profile).toBe("light");
    project.write(".pawl/config.yaml", "checks: [\n");
    expect(await project.pawl("verify", "T1", "--json")).toMatchObject({
      code: 2,
      json: { error: { code: "broken_config" } },
    });
  });
});

describe("findings", () => {
  test("are closed by a commit on top of the one they were raised at", async ({ project }) => {
    await project.pawl("task", "new", "One");
    const raised = project.commit("a.txt", "1\n");
    await project.pawl(
      "finding",
      "add",
      "Never ends",
      "--severity",
      "high",
      "--file",
      "a.txt",
      "--line",
      "1",
      "--task",
      "T1",
    );
    const resolve = (...more: string[]) => project.pawl("finding", "resolve", "T1/F1", "--json", ...more);
    expect((await resolve()).json.error.code).toBe("no_fix_commit");
    project.git("commit", "-q", "--allow-empty", "-m", "Pretend");
    expect((await resolve()).json.error.code).toBe("no_fix_commit");
    project.write("a.txt", "2\n");
    expect((await resolve()).json.error.code).toBe("pending_uncommitted");
    const fix = project.commit("a.txt", "2\n");
    project.git("checkout", "-q", "-b", "other", `${raised}~1`);
    expect((await resolve()).json.error.code).toBe("not_a_descendant");
    project.git("checkout", "-q", "main");
    expect(await resolve("--commit", "nonsense")).toMatchObject({
      code: 4,
      json: { error: { code: "no_commit" } },
    });
    expect((await resolve("--note", "bounded")).json.data.finding).toMatchObject({
      status: "fixed",
      resolved_commit: fix,
      resolution: "bounded",
      commit: raised,
    });
    expect((await resolve()).json.error.code).toBe("bad_transition");
  });

  test("the author cannot wave them away; a fresh session or a human can, with a reason", async ({
    project,
  }) => {
    await project.pawl("task", "new", "One");
    project.begin(AUTHOR, FRESH);
    await project.pawlIn(project.path, AUTHOR, "verify", "T1", "--", "test", "-d", ".");
    await project.pawl("finding", "add", "First", "--severity", "low", "--task", "T1");
    await project.pawl("finding", "add", "Second", "--severity", "low", "--task", "T1");
    const defer = (env: Record<string, string>, id: string, ...more: string[]) =>
      project.pawlIn(project.path, env, "finding", "defer", id, "--task", "T1", "--json", ...more);
    expect(await defer(AUTHOR, "F1", "--note", "later")).toMatchObject({
      code: 1,
      json: { error: { code: "author_may_not" } },
    });
    expect(
      await defer({ ...AUTHOR, PAWL_ACTOR: "human:Ada" }, "F1", "--note", "later", "--actor", "human:Ada"),
    ).toMatchObject({ code: 1 });
    expect(await defer(FRESH, "F1")).toMatchObject({ code: 3 });
    expect((await defer(FRESH, "F1", "--note", "later")).json.data.finding.status).toBe("deferred");
    const human = await project.pawl(
      "finding",
      "wontfix",
      "F2",
      "--task",
      "T1",
      "--note",
      "as meant",
      "--json",
    );
    expect(human.json.data.finding).toMatchObject({ status: "wontfix", resolution: "as meant" });
  });

  test("tell when the line is beyond the end of the committed file", async ({ project }) => {
    await project.pawl("task", "new", "One");
    project.commit("a.txt", "one\ntwo\n");
    const add = async (file: string, line: string) => {
      const what = ["finding", "add", `${file} ${line}`, "--severity", "low", "--file", file, "--line", line];
      return (await project.pawl(...what, "--task", "T1", "--json")).json.warnings;
    };
    expect(await add("a.txt", "2")).toEqual([]);
    expect(await add("a.txt", "99999")).toEqual(["a.txt has no line 99999 in what is committed."]);
    expect(await add("new.txt", "3"), "a file that is not committed yet").toEqual([]);
  });

  test("a human may set one aside on work of their own; a script in their name may not", async ({
    project,
  }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("verify", "T1", "--", "test", "-d", ".");
    for (const text of ["First", "Second"])
      await project.pawl("finding", "add", text, "--severity", "low", "--task", "T1");
    const aside = (id: string) => ["finding", "wontfix", id, "--task", "T1", "--note", "as meant", "--json"];
    expect((await project.pawl(...aside("F1"))).json.data.finding.status).toBe("wontfix");
    expect((await project.unattended().pawl(...aside("F2"))).json.error.code).toBe("no_terminal");
  });

  test("pass nothing while a high one is open, whatever the verdict is called", async ({ project }) => {
    await project.pawl("task", "new", "One");
    project.commit("a.txt", "one\ntwo\n");
    const add = ["finding", "add", "Wrong", "--severity", "high", "--file", "a.txt", "--line", "2"];
    const added = await project.pawl(...add, "--task", "T1", "--json");
    expect(added.json.data.finding.line_sha256).toBe(createHash("sha256").update("two").digest("hex"));
    const verdict = (word: string) =>
      project.pawl("review", "record", "T1", "--kind", "branch", "--verdict", word, "--json");
    expect((await verdict("pass_with_findings")).json.error.code).toBe("open_finding");
    expect((await verdict("fail")).code).toBe(0);
  });

  test("are reopened with a reason that is kept", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("finding", "add", "First", "--severity", "low", "--kind", "plan", "--task", "T1");
    const resolve = () => project.pawl("finding", "resolve", "F1", "--task", "T1", "--json");
    expect((await resolve()).json.error.code).toBe("plan_unchanged");
    project.write("plan.md", "Do it better.\n");
    await project.pawl("task", "update", "T1", "--plan-file", "plan.md");
    expect((await resolve()).code).toBe(0);
    expect((await project.pawl("finding", "reopen", "F1", "--task", "T1")).code).toBe(3);
    await project.pawl("finding", "reopen", "F1", "--task", "T1", "--note", "still there");
    const [one] = (await project.pawl("finding", "list", "T1", "--json")).json.data.findings;
    expect(one).toMatchObject({
      status: "open",
      reopened: 1,
      reopen_reasons: expect.stringContaining("still there"),
    });
    expect((await resolve()).json.error.code).toBe("plan_unchanged");
    expect(one.resolved_commit).toBeUndefined();
  });

  test("the same one is not recorded twice while it is open", async ({ project }) => {
    await project.pawl("task", "new", "One");
    const add = (text: string) =>
      project.pawl("finding", "add", text, "--severity", "low", "--file", "a", "--task", "T1", "--json");
    await add("Never  ends");
    expect(await add("never ends")).toMatchObject({
      code: 5,
      json: { error: { code: "finding_known", details: { id: "T0001/F1" } } },
    });
    expect((await add("never begins")).json.data.finding.id).toBe("T0001/F2");
  });
});

describe("reviews", () => {
  test("a verdict agrees with the findings, and what was looked at is recorded", async ({ project }) => {
    await project.pawl("task", "new", "One");
    const record = (verdict: string, ...more: string[]) =>
      project.pawl("review", "record", "T1", "--kind", "branch", "--verdict", verdict, "--json", ...more);
    expect((await record("fail")).json.error.code).toBe("no_finding");
    await project.pawl("finding", "add", "Bad", "--severity", "high", "--task", "T1");
    expect((await record("pass")).json.error.code).toBe("open_finding");
    const { json } = await record("fail", "--looked-at", "a.ts", "--looked-at", "b.ts");
    expect(json.data.review).toMatchObject({
      id: "T0001/V1",
      looked_at: ["a.ts", "b.ts"],
      findings: ["T0001/F1"],
      counts: true,
    });
    expect(json.data.review.head).toBe(project.git("rev-parse", "HEAD"));
    expect(
      (await project.pawl("review", "record", "T1", "--kind", "plan", "--verdict", "pass", "--json")).json
        .error.code,
    ).toBe("no_plan");
  });

  test("by the session that wrote the work they do not count; by a fresh one they do", async ({
    project,
  }) => {
    await project.pawl("task", "new", "One");
    project.begin(AUTHOR, FRESH);
    await project.pawlIn(project.path, AUTHOR, "verify", "T1", "--", "test", "-d", ".");
    const review = (env: Record<string, string>) =>
      project.pawlIn(
        project.path,
        env,
        "review",
        "record",
        "T1",
        "--kind",
        "branch",
        "--verdict",
        "pass",
        "--json",
      );
    expect((await review(AUTHOR)).json).toMatchObject({
      data: { review: { counts: false, actor: "agent:claude-code:s1" } },
    });
    expect((await review(FRESH)).json.data.review.counts).toBe(true);
    expect((await review({})).json.data.review).toMatchObject({ counts: true, actor: "human:Ada" });
  });

  test("a review and what it found are recorded in one step, or neither is", async ({ project }) => {
    project.commit("a.txt", "one\ntwo\n");
    await project.pawl("task", "new", "One");
    const found = JSON.stringify([
      { text: "Too short", severity: "low", file: "a.txt", line: 2 },
      { text: "Nobody needs it", severity: "low" },
    ]);
    const record = (verdict: string) => {
      const words = [
        "review",
        "record",
        "T1",
        "--kind",
        "branch",
        "--verdict",
        verdict,
        "--looked-at",
        "a.txt",
      ];
      return project.pawl(...words, "--findings", found, "--json");
    };
    expect((await record("pass")).json.error.code).toBe("open_finding");
    expect((await project.pawl("finding", "list", "T1", "--json")).json.data.findings).toEqual([]);
    const { json } = await record("pass_with_findings");
    expect(json.data.review.findings).toEqual(["T0001/F1", "T0001/F2"]);
    expect(json.data.findings).toMatchObject([
      { file: "a.txt", line: 2, line_sha256: createHash("sha256").update("two").digest("hex") },
      { text: "Nobody needs it", kind: "branch" },
    ]);
    expect((await project.pawl("log", "--json")).json.data.events.at(-1)).toMatchObject({
      event: "review.record",
    });
  });

  test("a reviewer is shown earlier findings and the changed files first", async ({ project }) => {
    await project.pawl("task", "new", "One");
    project.git("checkout", "-q", "-b", "work");
    project.commit("src/new.ts", "x\n");
    await project.pawl("finding", "add", "Known already", "--severity", "low", "--task", "T1");
    const { out, err } = await project.pawl("review", "start", "T1", "--kind", "branch");
    expect(out.indexOf("Known already")).toBeLessThan(out.indexOf("src/new.ts"));
    expect(err).toContain("pawl review record T0001");
    expect(project.read("tasks/T0001/findings/F1.md")).toContain("Known already");
  });
});

test("handoff, notes, touched files and the session that loads them", async ({ project }) => {
  await project.pawl("task", "new", "One", "--objective", "Uploads survive");
  await project.pawl("task", "update", "T1", "--status", "active");
  await project.pawl("touch", "src/a.ts", "src/b.ts");
  await project.pawl("touch", "src/c.ts", "src/a.ts");
  await project.pawl("slice", "open", "Retry");
  expect((await project.pawl("handoff", "--what", "half done")).code).toBe(3);
  await project.pawl(
    "handoff",
    "--what",
    "half done",
    "--changed",
    "src/a.ts",
    "--validation",
    "npm test: 1 failed",
    "--blocker",
    "no key",
    "--next",
    "get the key",
  );
  await project.pawl("note", "add", "Releases", "--text", "tag first", "--label", "release");
  const { json } = await project.pawl("session", "--json");
  expect(json.data.session).toMatchObject({
    task: { id: "T0001" },
    findings: [],
    touched: ["src/c.ts", "src/a.ts", "src/b.ts"],
    handoff: {
      id: "T0001/H1",
      what: "half done",
      changed: ["src/a.ts"],
      validation: ["npm test: 1 failed"],
      blocker: "no key",
      next: "get the key",
    },
  });
  expect(json.next.command).toContain("pawl verify --slice S1 --red");
  const { out } = await project.pawl("session");
  for (const words of [
    "T0001 One",
    "Uploads survive",
    "S1 Retry",
    "no open findings",
    "src/c.ts",
    "half done",
    "get the key",
  ])
    expect(out).toContain(words);
  expect(
    (await project.pawl("note", "list", "--label", "release", "--json")).json.data.notes[0],
  ).toMatchObject({ id: "N0001", text: "tag first" });
});

describe("what belongs to no single task", () => {
  const notes = async (project: Project, ...more: string[]) =>
    (await project.pawl("note", "list", "--json", ...more)).json.data.notes.map(
      (one: { id: string }) => one.id,
    );

  test("a note is edited, archived and superseded, and nothing of it is lost", async ({ project }) => {
    await project.pawl("note", "add", "How releases are made", "--text", "tag first", "--label", "release");
    await project.pawl("note", "edit", "N1", "--text", "CI publishes", "--rev", "1");
    expect(await project.pawl("note", "edit", "N1", "--title", "Late", "--rev", "1", "--json")).toMatchObject(
      {
        code: 5,
        json: { error: { code: "stale_rev" } },
      },
    );
    expect((await project.pawl("note", "edit", "N1", "--json")).json.error.code).toBe("nothing_to_change");
    expect((await project.pawl("note", "edit", "N9", "--title", "x", "--json")).code).toBe(4);
    expect((await project.pawl("note", "list", "--json")).json.data.notes).toMatchObject([
      { id: "N0001", text: "CI publishes", labels: ["release"], rev: 2, kind: "note", archived: false },
    ]);
    await project.pawl("note", "archive", "N1");
    expect([await notes(project), await notes(project, "--all")]).toEqual([[], ["N0001"]]);
    await project.pawl("note", "archive", "N1", "--undo");
    await project.pawl("note", "add", "Since May", "--supersedes", "N1");
    expect([await notes(project), await notes(project, "--all")]).toEqual([["N0002"], ["N0001", "N0002"]]);
    expect((await project.pawl("note", "list", "--all")).out).toMatch(/N0001 .*superseded by N0002/);
    expect(project.read("notes/N0001.md")).toMatch(/^superseded_by: N0002$/m);
  });

  test("a decision of an effort is found by its tasks, one that was superseded is not", async ({
    project,
  }) => {
    await project.pawl("task", "new", "Pay", "--label", "payments");
    const old = await project.pawl(
      ...["decide", "Amounts are floats", "--why", "quick", "--effort", "payments", "--json"],
    );
    expect(old.json.data.note).toMatchObject({
      id: "N0001",
      kind: "decision",
      labels: ["payments"],
      why: "quick",
    });
    expect((await project.pawl("context", "T1")).out).toContain("Amounts are floats");
    await project.pawl(
      ...[
        "decide",
        "Amounts are integers",
        "--why",
        "no rounding",
        "--effort",
        "payments",
        "--supersedes",
        "N1",
      ],
    );
    const { out } = await project.pawl("context", "T1");
    expect(out).toContain("Amounts are integers");
    expect(out).not.toContain("Amounts are floats");
    await project.pawl("decide", "Node 20 at least", "--why", "18 is out of support", "--general");
    expect((await project.pawl("note", "list")).out).toMatch(/N0003 +Node 20 at least +decision · 18 is out/);
    for (const more of [
      ["--general", "--task", "T1"],
      ["--task", "T1", "--supersedes", "N1"],
    ])
      expect((await project.pawl("decide", "x", "--why", "y", ...more)).code).toBe(3);
  });
});

test('a handoff stays short, and "none" as a blocker means that there is none', async ({ project }) => {
  await project.pawl("task", "new", "One");
  await project.pawl("task", "update", "T1", "--status", "active");
  const hand = (...more: string[]) =>
    project.pawl("handoff", "--what", "Half", "--next", "The rest", ...more, "--json");
  for (const none of ["none", "None.", "N/A", "-"])
    expect((await hand("--blocker", none)).json.data.handoff.blocker, none).toBe("");
  expect((await hand("--blocker", "none of us has a key")).json.data.handoff.blocker).toBe(
    "none of us has a key",
  );
  const long = await hand("--blocker", "x".repeat(2_001));
  expect([long.code, long.json.error.message]).toEqual([
    3,
    expect.stringContaining("2000 characters at most"),
  ]);
});

test("a session costs at most 400 tokens, however much there is", { tags: ["proof"] }, async ({
  project,
}) => {
  const long = "very long words ".repeat(600);
  await project.pawl("task", "new", "x".repeat(300), "--objective", long, "--acceptance", long);
  await project.pawl("task", "update", "T1", "--status", "active", "--next", long, "--next", long);
  for (let i = 0; i < 12; i++) {
    await project.pawl("slice", "open", `${i} ${"y".repeat(280)}`);
    await project.pawl(
      "finding",
      "add",
      `${i} ${long}`,
      "--severity",
      "high",
      "--file",
      `src/${"z".repeat(200)}${i}.ts`,
    );
  }
  await project.pawl("touch", ...Array.from({ length: 100 }, (_, i) => `${"deep/".repeat(40)}${i}.ts`));
  const most = long.slice(0, 2_000);
  await project.pawl("handoff", "--what", most, "--next", most, "--blocker", most);
  for (let i = 0; i < 5; i++) await project.pawl("decide", `${i} ${long}`, "--why", long);
  for (const [budget, ...args] of [[400], [280, "--budget", "280"], [200, "--budget", "200"]] as const) {
    const { out } = await project.pawl("session", ...args);
    expect(Math.ceil(Buffer.byteLength(out) / 4)).toBeLessThanOrEqual(budget);
    for (const words of [
      "T0001",
      "open findings: 12",
      "F1 high",
      "D5 4 very",
      "last handoff T0001/H1",
      "next:",
    ])
      expect(out).toContain(words);
  }
  expect((await project.pawl("session", "--budget", "20")).code).toBe(3);
});
