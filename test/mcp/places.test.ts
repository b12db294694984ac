// @module-tag proof
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openProject, type Project } from "../helpers/command-line.ts";
import { buildPawl, call, connect, type Place } from "../helpers/mcp-server.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let built: ReturnType<typeof buildPawl>;
let root: string;
let shop: Project;
const ONE = ".worktrees/T0001-one";
const TWO = ".worktrees/T0002-two";

beforeAll(() => {
  built = buildPawl();
}, 60_000);
afterAll(() => rmSync(built.folder, { recursive: true, force: true, maxRetries: 3 }));

beforeEach(async () => {
  root = makeTemporaryFolder("places");
  shop = openProject(makeRepository(root, "shop"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
});

async function open(place: Partial<Place> = {}): Promise<Client> {
  const client = await connect({ program: built.program, cwd: shop.path, env: shop.env, ...place });
  onTestFinished(() => client.close());
  return client;
}

const at = (path: string) => join(shop.path, path);
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env: shop.env, encoding: "utf8", stdio: "pipe" }).trim();

async function startBoth(client: Client): Promise<void> {
  for (const title of ["One", "Two"]) await call(client, "task_new", { title });
  for (const task of ["T1", "T2"]) expect((await call(client, "start", { task })).failed).toBe(false);
}

describe("a call about a task is made from the task's own worktree", () => {
  test("evidence is of that tree, whichever task the server stands in", async () => {
    const main = await open();
    await startBoth(main);
    writeFileSync(join(at(ONE), "one.txt"), "only in one\n");
    git(at(ONE), "add", "-A");
    git(at(ONE), "commit", "-q", "-m", "One");
    const second = await open({ cwd: at(TWO) });
    for (const client of [main, second]) {
      const { data, text } = await call(client, "verify", { task: "T1", command: ["test", "-f", "one.txt"] });
      expect(data.evidence, text).toMatchObject({
        exit_code: 0,
        tree: git(at(ONE), "rev-parse", "HEAD^{tree}"),
        head: git(at(ONE), "rev-parse", "HEAD"),
        branch: "task/T0001-one",
        dirty: false,
      });
    }
    const own = await call(second, "verify", { command: ["test", "-f", "one.txt"] });
    expect(own.data.evidence).toMatchObject({ id: "T0002/E1", exit_code: 1, branch: "task/T0002-two" });
    expect((await call(main, "decide", { what: "a", why: "b", task: "T2" })).data.decision).toMatchObject({
      branch: "task/T0002-two",
      commit: git(at(TWO), "rev-parse", "HEAD"),
    });
  });

  test("a sub-folder of the task's worktree stays where it is", async () => {
    await startBoth(await open());
    mkdirSync(join(at(ONE), "deep er"));
    const inside = await open({ cwd: join(at(ONE), "deep er") });
    const { data } = await call(inside, "verify", { command: ["pwd"] });
    expect(data.evidence.output).toBe(join(at(ONE), "deep er"));
  });

  test("which task is never guessed, and a task without a worktree has no evidence", async () => {
    const client = await open();
    await call(client, "task_new", { title: "One" });
    const early = await call(client, "verify", { task: "T1", command: ["true"] });
    expect(early).toMatchObject({ failed: true, data: { error: { code: "no_worktree" } } });
    expect(early.text).toContain("pawl start T0001");
    await call(client, "start", { task: "T1" });
    await call(client, "task_new", { title: "Two" });
    await call(client, "start", { task: "T2" });
    const which = await call(client, "verify", { command: ["true"] });
    expect(which).toMatchObject({ failed: true, data: { error: { code: "which_task" } } });
    expect(which.data.error.details.candidates).toEqual(["T0001", "T0002"]);
    expect((await call(client, "finding_list", { task: "T1" })).data).toEqual({ findings: [] });
  });

  test("a finding about the branch is resolved there, one about a plan anywhere", async () => {
    const client = await open();
    await call(client, "task_new", { title: "One", plan: "Do it" });
    const found = { severity: "low", task: "T1" };
    await call(client, "finding_add", { ...found, text: "plan", kind: "plan" });
    await call(client, "task_update", { task: "T1", plan: "Do it better" });
    expect((await call(client, "finding_resolve", { finding: "T1/F1" })).failed).toBe(false);
    await call(client, "finding_add", { ...found, text: "early" });
    const early = await call(client, "finding_resolve", { finding: "T1/F2" });
    expect(early.data.error.code).toBe("no_worktree");
    await call(client, "start", { task: "T1" });
    writeFileSync(join(at(ONE), "fix.txt"), "fix\n");
    const dirty = await call(client, "finding_resolve", { finding: "F2", task: "T1" });
    expect(dirty.data.error.code).toBe("pending_uncommitted");
    git(at(ONE), "add", "-A");
    git(at(ONE), "commit", "-q", "-m", "Fix");
    const fixed = await call(client, "finding_resolve", { finding: "F2", task: "T1" });
    expect(fixed.data.finding.resolved_commit).toBe(git(at(ONE), "rev-parse", "HEAD"));
  });

  test("a task of two repositories has to say in which one it is verified, unless the server stands in one", async () => {
    const api = openProject(makeRepository(root, "api"));
    mkdirSync(join(root, "tools"));
    const tools = openProject(makeRepository(root, "tools"));
    await shop.pawl("repo", "add", "../api");
    await shop.pawl("repo", "add", "../tools");
    await shop.pawl("task", "new", "One", "--repo", "shop", "--repo", "api");
    const [inShop, inApi, inTools] = [
      await open(),
      await open({ cwd: api.path }),
      await open({ cwd: tools.path }),
    ];
    await call(inShop, "start", { task: "T1" });
    const where = async (client: Client, input: object = {}) => {
      const { data } = await call(client, "verify", { task: "T1", command: ["pwd"], ...input });
      return data.error?.code ?? data.evidence.output;
    };
    expect(await where(inShop)).toBe(at(ONE));
    expect(await where(inApi)).toBe(join(api.path, ONE));
    expect(await where(inShop, { repo: "api" })).toBe(join(api.path, ONE));
    expect(await where(inTools)).toBe("which_repository");
    expect(await where(inTools, { repo: "api" })).toBe(join(api.path, ONE));
    expect(await where(inTools, { repo: "nowhere" })).toBe("no_worktree");
  });
});

describe("places that change under a running server", () => {
  test("a worktree that git moved is found where it is now", async () => {
    const client = await open();
    await startBoth(client);
    git(at(ONE), "worktree", "unlock", at(ONE));
    git(shop.path, "worktree", "move", at(ONE), join(root, "moved one"));
    const { data } = await call(client, "verify", { task: "T1", command: ["pwd"] });
    expect(data.evidence.output).toBe(join(root, "moved one"));
  });

  test("a deleted worktree is told, and everything else goes on", async () => {
    const main = await open();
    await startBoth(main);
    const inside = await open({ cwd: at(ONE) });
    expect((await call(inside, "session")).text).toContain("T0001");
    rmSync(at(ONE), { recursive: true });
    const gone = await call(main, "verify", { task: "T1", command: ["true"] });
    expect(gone.data.error).toMatchObject({ code: "no_worktree" });
    expect(gone.text).toContain("--claim");
    expect((await call(main, "verify", { task: "T2", command: ["true"] })).failed).toBe(false);
    // The server that stood there must not take the project around it for its worktree.
    for (const tool of ["session", "task_list", "verify"])
      expect((await call(inside, tool)).data?.error.code, tool).toBe("no_folder");
    await main.callTool({ name: "start", arguments: { task: "T1", claim: true } });
    expect((await call(main, "verify", { task: "T1", command: ["true"] })).failed).toBe(false);
  });

  test("a project that is moved with its server is found where it is now", async () => {
    const client = await open();
    await call(client, "task_new", { title: "One" });
    renameSync(shop.path, join(root, "new place"));
    expect((await call(client, "task_new", { title: "Two" })).data.task.id).toBe("T0002");
    renameSync(join(root, "new place"), shop.path);
    expect((await shop.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(2);
  });

  test("outside of a repository every call says so, and the server lives", async () => {
    const client = await open({ cwd: root });
    expect((await call(client, "session")).data.error.code).toBe("not_a_repository");
    git(root, "init", "-q");
    expect((await call(client, "session")).failed).toBe(false);
  });
});
