import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toolIds, toolName } from "../../src/mcp/tools.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { buildPawl, call, connect } from "../helpers/mcp-server.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/**
 * Two projects with the same story: one is told over MCP, by a server that stands at the top of the project, the other
 * on the command line, standing where the work is. Every answer has to be the same.
 */
const AUTHOR = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "author-1" };
const REVIEWER = { COPILOT_CLI: "1", COPILOT_AGENT_SESSION_ID: "reviewer-1" };

interface Twin {
  root: string;
  project: Project;
}

let folder: string;
let built: ReturnType<typeof buildPawl>;
let over: Twin;
let line: Twin;
const clients: Record<string, Client> = {};

beforeAll(async () => {
  folder = makeTemporaryFolder("every tool");
  built = buildPawl();
  [over, line] = ["over", "line"].map((name) => makeTwin(join(folder, name))) as [Twin, Twin];
  line.project.begin(AUTHOR, REVIEWER);
  const { path: cwd, env } = over.project;
  const args = ["--tools", "all"];
  clients.author = await connect({ ...built, cwd, env: { ...env, ...AUTHOR }, args });
  clients.reviewer = await connect({ ...built, cwd, env: { ...env, ...REVIEWER }, args });
}, 120_000);

afterAll(async () => {
  for (const client of Object.values(clients)) await client.close();
  for (const path of [folder, built.folder]) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
});

function makeTwin(root: string): Twin {
  mkdirSync(root);
  const project = openProject(makeRepository(root, "shop"));
  execFileSync("git", ["init", "-q", "--bare", join(root, "remote.git")], { env: project.env });
  project.git("remote", "add", "origin", "../remote.git");
  project.write(".pawl/config.yaml", "profile: standard\nchecks:\n  test: test -f new.txt\n");
  project.git("add", "-A");
  project.git("commit", "-q", "-m", "Policy");
  return { root, project };
}

const WORKTREE = ".worktrees/T0001-retry-uploads";
const placeOf = (twin: Twin, at: string) => join(twin.project.path, at);

/** What two stories told one after the other cannot have in common. */
function common(twin: Twin, value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(JSON.stringify(twin.root).slice(1, -1), "ROOT")
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    // A person's clock needs no name; an agent may run anywhere, so its times say which clock they are by.
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d(?: UTC)?/g, "TIME")
    .replace(/\b[0-9a-f]{40}\b/g, "COMMIT")
    .replace(/\b[0-9a-f]{64}\b/g, "DIGEST")
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{10,12}\b/g, "SHORT")
    .replace(/"duration_ms":\d+/g, '"duration_ms":0')
    .replace(/"score":-?[\d.e-]+/g, '"score":0')
    .replace(/"(text|before)":"[0-9a-f]{8,}"/g, '"$1":"BEGINNING"')
    .replace(/"tx":"[0-9a-f]{16}"/g, '"tx":"TX"')
    .replace(/"clone":"[^"]*"/g, '"clone":"CLONE"')
    .replace(/(touched|events)\/[0-9a-z]+/g, "$1/CLONE");
  return JSON.parse(text);
}

const called = new Set<string>();

interface Step {
  tool: string;
  input?: object;
  argv: string[];
  /** What follows a lone `--`. */
  rest?: string[];
  /** Where the command line stands; the server stands at the top of the project. */
  at?: string;
  as?: "author" | "reviewer";
}

async function both({ tool, input = {}, argv, rest, at = "", as = "author" }: Step): Promise<void> {
  called.add(tool);
  const tail = rest ? ["--", ...rest] : [];
  const env = as === "author" ? AUTHOR : REVIEWER;
  const client = clients[as] as Client;
  const told = await call(client, tool, input);
  const typed = await line.project.pawlIn(placeOf(line, at), env, ...argv, "--json", ...tail);
  expect(told.failed, `${tool}: ${told.text}`).toBe(!typed.json.ok);
  if (told.data === undefined) {
    // Text only: then it is the text of the command, with what it printed beside it.
    const shown = await line.project.pawlIn(placeOf(line, at), env, ...argv);
    const [mine, theirs] = [common(over, told.text), common(line, shown.out.trimEnd())] as [string, string];
    expect(mine.startsWith(theirs.slice(0, 20_000)), `${mine}\n---\n${theirs}`).toBe(true);
    return;
  }
  const expected = typed.json;
  if (told.failed) {
    expect(common(over, told.data.error)).toEqual(common(line, expected.error));
    expect(told.text).toContain(expected.error.code);
    return;
  }
  const { next, warnings = [], ...data } = told.data;
  expect(common(over, { data, next, warnings })).toEqual(
    common(line, { data: expected.data, next: expected.next, warnings: expected.warnings }),
  );
}

function change(path: string, text: string, message?: string): void {
  for (const twin of [over, line]) {
    const cwd = placeOf(twin, WORKTREE);
    writeFileSync(join(cwd, path), text);
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd, env: twin.project.env, stdio: "pipe" });
    if (message) {
      git("add", "-A");
      git("commit", "-q", "-m", message);
    }
  }
}

const T1 = { task: "T1" };

test("writing tasks down, and looking at what there is", async () => {
  for (const twin of [over, line]) writeFileSync(join(twin.root, "plan.md"), "Loop three times");
  const plan = { title: "Retry uploads", objective: "They survive", plan: "Loop three times" };
  await both({
    tool: "task_new",
    input: plan,
    argv: ["task", "new", plan.title, "--objective", plan.objective, "--plan-file", "../plan.md"],
  });
  await both({ tool: "task_new", input: { title: "Another" }, argv: ["task", "new", "Another"] });
  await both({ tool: "task_list", argv: ["task", "list"] });
  await both({ tool: "task_list", input: { status: ["done"] }, argv: ["task", "list", "--status", "done"] });
  await both({ tool: "task_ready", argv: ["task", "ready"] });
  await both({ tool: "status", argv: ["status"] });
  await both({ tool: "session", argv: ["session"] });
  const next = { ...T1, next: ["measure"], label: ["net"] };
  await both({
    tool: "task_update",
    input: next,
    argv: ["task", "update", "T1", "--next", "measure", "--label", "net"],
  });
  await both({ tool: "task_show", input: T1, argv: ["task", "show", "T1"] });
});

test("work in the task's own worktree, from a server that stands elsewhere", async () => {
  await both({ tool: "start", input: T1, argv: ["start", "T1"] });
  await both({ tool: "session", input: T1, argv: ["session"], at: WORKTREE });
  await both({ tool: "context", input: T1, argv: ["context"], at: WORKTREE });
  await both({
    tool: "slice_open",
    input: { title: "Retry once", ...T1 },
    argv: ["slice", "open", "Retry once"],
    at: WORKTREE,
  });
  const command = ["test", "-f", "new.txt"];
  await both({
    tool: "verify",
    input: { slice: "S1", red: true, command, ...T1 },
    argv: ["verify", "--slice", "S1", "--red"],
    rest: command,
    at: WORKTREE,
  });
  change("new.txt", "new\n", "Add it");
  // One task is active, so that nobody has to name it.
  await both({
    tool: "verify",
    input: { slice: "S1", command },
    argv: ["verify", "--slice", "S1"],
    rest: command,
    at: WORKTREE,
  });
  await both({ tool: "verify", argv: ["verify"], at: WORKTREE });
  await both({
    tool: "slice_close",
    input: { slice: "T1/S1", decision: "Once is enough" },
    argv: ["slice", "close", "S1", "--decision", "Once is enough"],
    at: WORKTREE,
  });
  await both({
    tool: "decide",
    input: { what: "In the client", why: "The server stays", changed: ["new.txt"] },
    argv: ["decide", "In the client", "--why", "The server stays", "--changed", "new.txt"],
    at: WORKTREE,
  });
  await both({ tool: "touch", input: { files: ["new.txt"] }, argv: ["touch", "new.txt"], at: WORKTREE });
});

test("a review by somebody else, and findings until they are settled", async () => {
  const kind = { kind: "branch" };
  const reviewer = { as: "reviewer", at: WORKTREE } as const;
  const found = (text: string) => ({
    tool: "finding_add",
    input: { text, severity: "low", file: "new.txt", line: 1 },
    argv: ["finding", "add", text, "--severity", "low", "--file", "new.txt", "--line", "1"],
    ...reviewer,
  });
  const settled = (tool: string, verb: string, finding: string, by: Partial<Step>) => ({
    tool,
    input: { finding, note: "because" },
    argv: ["finding", verb, finding, "--note", "because"],
    at: WORKTREE,
    ...by,
  });
  await both({
    tool: "review_start",
    input: kind,
    argv: ["review", "start", "--kind", "branch"],
    ...reviewer,
  });
  for (const text of ["Never ends", "No test", "Odd name"]) await both(found(text));
  const several = [
    { text: "Never ends", severity: "low", file: "new.txt", line: 1 },
    { text: "No limit", severity: "medium" },
  ];
  await both({
    tool: "finding_batch",
    input: { findings: several },
    argv: ["finding", "batch", "--findings", JSON.stringify(several)],
    ...reviewer,
  });
  await both({ tool: "finding_list", argv: ["finding", "list"], at: WORKTREE });
  change("new.txt", "newer\n", "Fix it");
  await both(settled("finding_resolve", "resolve", "F1", {}));
  await both(settled("finding_reopen", "reopen", "F1", reviewer));
  change("new.txt", "newest\n", "Fix it again");
  await both(settled("finding_resolve", "resolve", "T1/F1", {}));
  await both(settled("finding_defer", "defer", "F2", reviewer));
  await both(settled("finding_wontfix", "wontfix", "F3", reviewer));
  await both(settled("finding_wontfix", "wontfix", "F4", reviewer));
  await both({
    tool: "review_record",
    input: { kind: "branch", verdict: "pass", looked_at: ["new.txt"], summary: "Good" },
    argv: "review record --kind branch --verdict pass --looked-at new.txt --summary Good".split(" "),
    ...reviewer,
  });
});

test("the end of the work", async () => {
  await both({
    tool: "handoff",
    input: { what: "All done", next: "Approve", changed: ["new.txt"], validation: ["test: passed"] },
    argv: [
      ...["handoff", "--what", "All done", "--next", "Approve"],
      ...["--changed", "new.txt", "--validation", "test: passed"],
    ],
    at: WORKTREE,
  });
  for (const twin of [over, line]) twin.project.commit("other.txt", "moved on\n");
  await both({ tool: "refresh", argv: ["refresh"], at: WORKTREE });
  await both({ tool: "verify", argv: ["verify"], at: WORKTREE });
  await both({ tool: "snapshot", argv: ["snapshot"], at: WORKTREE });
  await both({ tool: "diff", argv: ["diff"], at: WORKTREE });
  await both({ tool: "diff", input: { stat: true }, argv: ["diff", "--stat"], at: WORKTREE });
  await both({ tool: "check", input: { stage: "close" }, argv: ["check", "--stage", "close"], at: WORKTREE });
  await both({ tool: "search", input: { words: ["client"] }, argv: ["search", "client"] });
  await both({ tool: "note_add", input: { title: "How" }, argv: ["note", "add", "How"] });
  await both({ tool: "note_list", argv: ["note", "list"] });
  await both({ tool: "repo_list", argv: ["repo", "list"] });
  await both({ tool: "log", input: { limit: 30 }, argv: ["log", "--limit", "30"] });
  await both({ tool: "sync", argv: ["sync"] });
  await both({ tool: "audit", argv: ["audit"] });
  const reason = { ...T1, keep: true, reason: "waiting" };
  await both({ tool: "finish", input: reason, argv: ["finish", "T1", "--keep", "--reason", "waiting"] });
  const dropped = { task: "T2", status: "dropped" };
  await both({ tool: "task_update", input: dropped, argv: ["task", "update", "T2", "--status", "dropped"] });
  await both({ tool: "task_archive", input: { task: "T2" }, argv: ["task", "archive", "T2"] });
});

test("a dry run says what a call would do or why it is refused, and does nothing", async () => {
  const client = clients.author as Client;
  const rehearse = (tool: string, input?: object) => call(client, "dry_run", { tool, input });
  const before = (await call(client, "task_list", {})).data;
  const added = await rehearse("task_new", { title: "Not yet" });
  expect([added.failed, added.text]).toEqual([false, expect.stringMatching(/would create tasks\/T0003/)]);
  expect((await rehearse("verify", { task: "T1", command: ["touch", "ran"] })).text).toContain(
    "would run touch ran",
  );
  expect((await rehearse("task_new", { title: "<a short title>" })).text).toMatch(/placeholder/);
  expect((await rehearse("task_update", { task: "T1", plan: "plan.md" })).text).toMatch(/name of a file/);
  expect((await rehearse("approve", { task: "T1" })).text).toMatch(/not for agents/);
  for (const [name, here] of [
    ["load_session", "session"],
    ["manage_worktree_lane", "start and finish"],
    ["dispatch_lane_work", "run_start"],
    ["lane_communication", "mail_send"],
    ["worker_reports", "handoff"],
  ] as const)
    for (const { text } of [await rehearse(name), await call(client, name, {})])
      expect(text).toMatch(new RegExp(`no tool "${name}".*Here that is ${here}`, "s"));
  expect((await call(client, "dry_run", { tool: "session", imput: {} })).text).toMatch(
    /"imput" is not an option/,
  );
  expect((await call(client, "task_list", {})).data).toEqual(before);
  expect(existsSync(join(placeOf(over, WORKTREE), "ran"))).toBe(false);
});

test("every tool was called, and what is refused is refused in the same words", async () => {
  expect([...called].sort()).toEqual(toolIds("all").map(toolName).sort());
  await both({ tool: "task_show", input: { task: "T9" }, argv: ["task", "show", "T9"] });
  const twice = { finding: "F1", note: "again", task: "T1" };
  await both({
    tool: "finding_resolve",
    input: twice,
    argv: ["finding", "resolve", "F1", "--note", "again", "--task", "T1"],
    at: WORKTREE,
  });
});

test("the resources are the current task and its packet, and any other by its id", async () => {
  const client = clients.author as Client;
  const { resources } = await client.listResources();
  expect(resources.map((one) => one.uri)).toEqual(["pawl://task/current", "pawl://context/current"]);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map((one) => one.uriTemplate)).toEqual([
    "pawl://task/{id}",
    "pawl://context/{id}",
  ]);
  const read = async (uri: string) => {
    const [first] = (await client.readResource({ uri })).contents;
    return first && "text" in first ? common(over, first.text.trimEnd()) : undefined;
  };
  const shown = async (...argv: string[]) =>
    common(line, (await line.project.pawlIn(placeOf(line, WORKTREE), AUTHOR, ...argv)).out.trimEnd());
  expect(await read("pawl://task/T2")).toBe(await shown("task", "show", "T2"));
  expect(await read("pawl://task/current")).toBe(await shown("task", "show", "T1"));
  expect(await read("pawl://context/T0001")).toBe(await shown("context", "T1"));
  for (const uri of ["pawl://task/T99", "pawl://task/../T1", "pawl://__proto__/T1", "file:///etc/passwd"])
    await expect(client.readResource({ uri }), uri).rejects.toThrow(/no_task|no_resource/);
});
