import { describe, expect, test as pure } from "vitest";
import { openRuntime } from "../../src/runtime/open.ts";
import { OF_A_TASK } from "../../src/web/actions/all.ts";
import { entriesFor } from "../../src/web/views/task-menu.ts";
import { test } from "../helpers/command-line.ts";
import { openHouse, visit } from "../helpers/page.ts";

type Menu = Parameters<typeof entriesFor>[0];
const run = (ended: string | undefined, attempts: object[] = []) => ({ ended, attempts, status: "running" });
const actionsOf = (status: string, ...runs: object[]) =>
  entriesFor({ task: { status }, runs } as unknown as Menu).map(([action]) => action);

describe("what can be done to a task", () => {
  pure.each<[string, string[], string[]]>([
    ["open", actionsOf("open"), ["edit", "run", "start", "decide", "lane", "mail", "drop"]],
    [
      "held by hand",
      actionsOf("active", run(undefined)),
      [
        "edit",
        "run",
        "decide",
        "finding",
        "lane",
        "mail",
        "refresh",
        "snapshot",
        "check",
        "keep",
        "remove",
        "drop",
      ],
    ],
    [
      "an agent at work",
      actionsOf("active", run(undefined, [{ number: 1 }])),
      ["edit", "stop", "decide", "finding", "lane", "mail", "snapshot"],
    ],
    [
      "an agent that has ended",
      actionsOf("active", run(undefined, [{ number: 1, ended: "2026-01-01T00:00:00Z" }])),
      [
        ...[
          "edit",
          "run",
          "resume",
          "decide",
          "finding",
          "lane",
          "mail",
          "refresh",
          "snapshot",
          "check",
          "keep",
        ],
        ...["remove", "drop"],
      ],
    ],
    ["merged, worktrees there", actionsOf("merged", run(undefined)), ["snapshot", "keep", "remove"]],
    ["merged and finished", actionsOf("done", run("merged")), []],
    ["dropped", actionsOf("dropped"), ["edit"]],
  ])("%s", (_, offered, expected) => {
    expect(offered).toEqual(expected);
    for (const action of offered) expect(OF_A_TASK[action], action).toBeDefined();
  });
});

test("a form that comes too late undoes nothing of what somebody else wrote", async ({ project }) => {
  project.commit("a.txt", "a\n");
  await project.pawl("task", "new", "Retry", "--objective", "Old", "--plan", "Old plan");
  const get = visit(openHouse(project));
  const fieldsIn = (form: string) =>
    Object.fromEntries(
      [...form.matchAll(/<input type="hidden" name="([\w-]+)" value="(\w+)">/g)].map((one) => one.slice(1)),
    );
  const shown = { ...fieldsIn(String((await get("/t/T0001/do/edit")).body)), title: "Retry" };
  await project.pawl("task", "update", "T1", "--objective", "Theirs", "--plan", "Their plan");
  const sent = { ...shown, objective: "Old", plan: "My plan", profile: "standard", status: "open" };
  const late = String((await get("/t/T0001/do/edit", { method: "POST", body: sent })).body);
  expect(late).toContain("Somebody else has changed it meanwhile, and you have both changed Plan.");
  expect(late).toMatch(/name="objective"[^>]*>Theirs</);
  expect(late).toMatch(/name="plan"[^>]*>My plan</);
  expect(late).toContain("<p><b>Plan</b> now says:</p><pre>Their plan</pre>");
  expect(late).not.toContain("<b>Objective</b> now says");
  const again = { ...sent, ...fieldsIn(late), objective: "Theirs" };
  expect((await get("/t/T0001/do/edit", { method: "POST", body: again })).status).toBe(303);
  const { task } = (await project.pawl("task", "show", "T1", "--json")).json.data;
  expect(task).toMatchObject({ objective: "Theirs", plan: "My plan" });
});

test("what an approval would settle by itself is settled from its page, and then shown", async ({
  project,
}) => {
  project.commit(".pawl/config.yaml", "profile: light\nchecks: none\n");
  await project.pawl("task", "new", "Retry");
  const tree = (await project.pawl("start", "T1", "--json")).json.data.run.repos[0].worktree;
  project.write(`${tree}/a.txt`, "a\n");
  project.git("-C", tree, "add", "a.txt");
  project.git("-C", tree, "commit", "-qm", "Retry twice");
  const get = visit(openHouse(project));
  const before = String((await get("/t/T0001/approve")).body);
  expect(before).toContain("T0001 is almost ready");
  expect(before).toContain('action="/t/T0001/do/settle"');
  expect((await get("/t/T0001/do/settle", { method: "POST", body: {} })).status).toBe(303);
  expect(String((await get("/t/T0001/approve")).body)).toContain("Merge T0001 into main");

  project.write(`${tree}/a.txt`, "not committed\n");
  const later = String((await get("/t/T0001/approve")).body);
  expect(later).toContain("T0001 cannot be merged yet");
  expect(later).not.toContain("do/settle");
});

test("controls do what their commands do, and report it once", async ({ project }) => {
  project.commit("a.txt", "a\n");
  const get = visit(openHouse(project));
  const send = async (path: string, body: object) => {
    const { status, headers, body: text } = await get(path, { method: "POST", body });
    return { status, to: headers.Location ?? "", text: String(text) };
  };
  const shown = async () => (await project.pawl("task", "show", "T1", "--json")).json.data;
  const made = await send("/new/task", { title: "Retry", label: "http\nclient", profile: "light" });
  expect([made.status, made.to.split("?")[0]]).toEqual([303, "/t/T0001"]);
  const first = String((await get(made.to)).body);
  expect(first).toContain('<section class="notice" role="status">');
  expect(first).toContain("/t/T0001/do/drop");
  expect(String((await get(made.to)).body)).not.toContain('class="notice"');

  // Somebody else is faster: nothing of theirs is lost, and nothing that was typed here either.
  const form = String((await get("/t/T0001/do/edit")).body);
  const rev = /name="rev" value="(\d+)"/.exec(form)?.[1];
  await project.pawl("task", "update", "T1", "--plan", "Theirs");
  const edit = { rev, title: "Retry what asks", plan: "", label: "http", profile: "light", status: "open" };
  const late = await send("/t/T0001/do/edit", edit);
  expect([late.status, late.text.includes("Not done:"), late.text.includes("Retry what asks")]).toEqual([
    409,
    true,
    true,
  ]);
  const fresh = /name="rev" value="(\d+)"/.exec(late.text)?.[1];
  expect((await send("/t/T0001/do/edit", { ...edit, rev: fresh })).status).toBe(303);
  expect((await shown()).task).toMatchObject({ title: "Retry what asks", plan: "Theirs", labels: ["http"] });
  const { label: _, ...without } = edit;
  await send("/t/T0001/do/edit", { ...without, rev: Number(fresh) + 1 });
  expect((await shown()).task.labels).toEqual([]);

  expect((await send("/t/T0001/do/lane", { path: "src\ntest/**" })).status).toBe(303);
  await project.pawl("task", "new", "Another");
  const overlap = await send("/t/T0002/do/lane", { path: "src/http" });
  expect(overlap.text).toContain("overlaps");
  expect((await send("/t/T0001/do/lane-edit?lane=L1", { rev: "1", path: "src", owner: "Ada" })).status).toBe(
    303,
  );
  const lanes = String((await get("/lanes")).body);
  expect(lanes).toContain("<code>src</code>");
  expect(lanes).toContain("/t/T0001/do/lane-close?lane=L1");
  expect((await send("/t/T0001/do/lane-close?lane=L1", {})).status).toBe(303);
  expect(String((await get("/lanes")).body)).toContain("No lanes yet.");
  expect(String((await get("/t/T0001/lanes")).body)).toContain("closed");

  expect(String((await get("/t/T0001/do/mail?to=T0001")).body)).toContain('name="to" value="T0001"');
  expect((await send("/t/T0001/do/mail", { to: "T0001", text: "The key is in the vault" })).status).toBe(303);
  expect((await send("/t/T0002/do/mail", { to: "human", text: "Which format?" })).status).toBe(303);
  const mail = String((await get("/mail")).body);
  expect(mail.indexOf("Which format?")).toBeLessThan(mail.indexOf("The key is in the vault"));
  expect(mail).toContain("/t/T0002/do/mail-read?message=M1");
  expect((await send("/t/T0002/do/mail-read?message=M1", {})).status).toBe(303);
  expect((await send("/t/T0001/do/mail-close?message=M1", {})).status).toBe(303);
  expect(String((await get("/mail")).body)).toContain("No unread mail.");
  expect(String((await get("/t/T0002/mail")).body)).toContain("acknowledged");

  for (const [action, body] of Object.entries({
    start: {},
    decide: { what: "Wait", why: "The server asks" },
    finding: { text: "Odd", severity: "low" },
    "defer?finding=F1": { note: "Later" },
    snapshot: {},
    keep: { reason: "A look first" },
    drop: {},
  }))
    expect(await send(`/t/T0001/do/${action}`, body), action).toMatchObject({ status: 303 });
  expect(await shown()).toMatchObject({
    task: { status: "dropped" },
    decisions: [{ what: "Wait" }],
    findings: [{ status: "deferred" }],
    runs: [{ ended: "kept" }],
  });
});

test("the log tells what was done on the page from what was done by a command", async ({ project }) => {
  project.commit("a.txt", "a\n");
  const get = visit(openHouse(project));
  await project.pawl("task", "new", "By a command");
  await get("/new/task", { method: "POST", body: { title: "On the page" } });
  await get("/t/T0001/do/start", { method: "POST", body: {} });
  const { json } = await project.pawl("log", "--json");
  type Logged = { event: string; record: string; phase?: string; how?: string };
  const written = json.data.events.map((one: Logged) => `${one.event} ${one.record} ${one.how ?? "no how"}`);
  expect(written).toEqual([
    "task.new T0001@1 no how",
    "task.new T0002@1 web",
    // A procedure says so both times: before it acts and after.
    ...["start T0001/R1@1 web", "start my project@1 web", "start T0001/R1@2 web", "start T0001@2 web"],
  ]);
  const marked = (rows: string[]) => rows.filter((row) => row.includes(", on the page")).length;
  expect(marked((await project.pawl("log")).out.split("\n"))).toBe(5);
  expect(marked(String((await get("/log")).body).split("<tr data-key"))).toBe(5);
  // What pawl settles by itself while a page is shown was not done on it.
  const around = { cwd: project.path, env: project.env, operations: [], oneShot: true, progress: () => {} };
  const runtime = openRuntime({ ...around, fromPage: true });
  expect((await runtime.situation("read")).how).toBe("web");
  expect((await runtime.byItself().situation("read")).how).toBeUndefined();
});

test("controls refuse what their commands refuse, in the same words", async ({ project }) => {
  project.commit("a.txt", "a\n");
  await project.pawl("task", "new", "Retry");
  const get = visit(openHouse(project));
  const rows: [string, Record<string, string>, string[]][] = [
    ["run", { agent: "nobody" }, ["run", "T1", "--agent", "nobody"]],
    ["run", { agent: "claude", time: "soon" }, ["run", "T1", "--agent", "claude", "--time", "soon"]],
    ["resume", {}, ["run", "resume", "T1"]],
    ["stop?run=R9", {}, ["run", "stop", "T1/R9"]],
    ["refresh", {}, ["refresh", "T1"]],
    ["snapshot", {}, ["snapshot", "T1"]],
    ["keep", { reason: "x" }, ["finish", "T1", "--keep", "--reason", "x"]],
    ["remove", { reason: "x" }, ["finish", "T1", "--remove", "--reason", "x"]],
    ["edit", { status: "blocked" }, ["task", "update", "T1", "--status", "blocked"]],
    ["edit", { rev: "7", title: "x" }, ["task", "update", "T1", "--rev", "7", "--title", "x"]],
    [
      "resolve?finding=F9",
      { commit: "abc" },
      ["finding", "resolve", "F9", "--commit", "abc", "--task", "T1"],
    ],
    ["lane", { path: "../x" }, ["lane", "add", "T1", "--path", "../x"]],
    ["lane-close?lane=L9", {}, ["lane", "close", "T1/L9"]],
    ["mail", { to: "nobody", text: "x" }, ["mail", "send", "nobody", "x", "--task", "T1"]],
    ["mail-read?message=M9", {}, ["mail", "ack", "T1/M9"]],
  ];
  for (const [action, body, argv] of rows) {
    const said = await project.pawl(...argv, "--json");
    const { status, body: text } = await get(`/t/T0001/do/${action}`, { method: "POST", body });
    const page = String(text).replace(/&(quot|#39|lt|gt|amp);/g, (_, one) => ENTITIES[one] ?? "");
    expect(page, `${action}: ${said.json.error.message}`).toContain(said.json.error.message);
    expect(status, action).toBeGreaterThanOrEqual(400);
  }
  for (const action of Object.keys(OF_A_TASK)) {
    if (action === "lane-edit") continue;
    const { status, body } = await get(`/t/T0001/do/${action}`);
    expect([status, String(body).includes('class="btn go"')], action).toEqual([200, true]);
  }
});

const ENTITIES: Record<string, string> = { quot: '"', "#39": "'", lt: "<", gt: ">", amp: "&" };
