import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { trustOrigin } from "../helpers/audited-project.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { copyReady, gitIn, makeReady, ok, pressesCtrlC, type Ready, typing } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const BRANCH = "task/T0001-change-it-all";

let folder: string;
let base: Ready;
let copies = 0;
beforeAll(async () => {
  folder = makeTemporaryFolder("requests");
  base = await makeReady(join(folder, "base"), 1);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

interface Requested extends Ready {
  home: Project;
  has(ref: string): boolean;
  /** What the shipped workflow asks in a fresh clone. */
  checked(...flags: string[]): ReturnType<Project["pawl"]>;
}

async function withRemote(guarded: boolean): Promise<Requested> {
  const ready = copyReady(base, join(folder, `copy ${++copies}`));
  const [home] = ready.repos as [Project];
  const remote = join(ready.root, "remote.git");
  gitIn(ready, ready.root, "init", "-q", "--bare", "--template=", "-b", "main", remote);
  home.git("remote", "add", "origin", remote);
  home.git("push", "-q", "-u", "origin", "main");
  await trustOrigin(home, { name: "shop", home: true }, guarded);
  return {
    ...ready,
    home,
    has: (ref) => gitIn(ready, remote, "for-each-ref", `refs/heads/${ref}`) !== "",
    checked(...flags) {
      const path = join(ready.root, `checkout ${++copies}`);
      gitIn(ready, ready.root, "clone", "-q", remote, path);
      const head = gitIn(ready, path, "rev-parse", `origin/${BRANCH}`);
      return openProject({ path, env: ready.env }).pawl(
        "check",
        "--request",
        head,
        "--base",
        "main",
        ...flags,
      );
    },
  };
}

test("a guarded remote gets the records with the request, once a human has agreed, and its check passes", async () => {
  const it = await withRemote(true);
  const dry = await ok(it.home.pawl("pr", "T1", "--dry-run", "--json"));
  expect(dry.json.planned.map((one: { do: string }) => one.do)).toEqual(["publish", "push"]);
  const done = await ok(typing(it, { typed: "yes" }, "pr", "T1"));
  expect(done.err).toMatch(/This publishes 1 task .*\n.*Everybody who can read that repository/);
  expect(done.json.data.request.records).toBe("origin");
  expect([it.has(BRANCH), it.has("pawl/state")]).toEqual([true, true]);
  const checked = await it.checked();
  expect(checked.code, checked.out + checked.err).toBe(0);
});

test("the check of a request sees that a fix was undone", { tags: ["proof"] }, async () => {
  const it = await withRemote(true);
  const worktree = join(it.home.path, ".worktrees/T0001-change-it-all");
  const commit = (text: string) => {
    writeFileSync(join(worktree, "fixed.txt"), text);
    gitIn(it, worktree, "add", "-A");
    gitIn(it, worktree, "commit", "-q", "-m", text);
  };
  commit("as it was\n");
  await ok(it.home.pawlIn(worktree, {}, "finding", "add", "Wrong", "--severity", "low"));
  commit("fixed\n");
  await ok(it.home.pawlIn(worktree, {}, "finding", "resolve", "F2"));
  const lost = async () => {
    await ok(typing(it, { typed: "yes" }, "pr", "T1"));
    const { json } = await it.checked("--json");
    return json.data.check.reasons.filter((one: { code: string }) => one.code === "fix_not_in_branch");
  };
  expect(await lost()).toEqual([]);
  commit("as it was\n");
  expect(await lost()).toMatchObject([{ record: "T0001/F2" }]);
});

test("without an answer the request is pushed alone, and whoever reads it knows why its check will fail", async () => {
  for (const typed of [undefined, "no"]) {
    const it = await withRemote(true);
    const done = await ok(typing(it, { typed }, "pr", "T1"));
    expect(done.json.warnings.join("\n")).toMatch(/^The records were not published: .*pawl sync$/m);
    expect([it.has(BRANCH), it.has("pawl/state")]).toEqual([true, false]);
  }
});

test("Ctrl-C at the question about the records pushes nothing at all", async () => {
  const it = await withRemote(true);
  const stopped = await typing(it, { typed: pressesCtrlC }, "pr", "T1");
  expect([stopped.code, stopped.json.error.message]).toEqual([
    130,
    "Stopped; nothing was published or pushed. To go on: pawl pr T0001",
  ]);
  expect([it.has(BRANCH), it.has("pawl/state")]).toEqual([false, false]);
});

test("where nobody reads records, none are published; where they are shared already, they follow unasked", async () => {
  const it = await withRemote(false);
  const alone = await ok(it.home.pawl("pr", "T1", "--json"));
  expect(alone.json.data.request.records).toBeUndefined();
  expect([it.has(BRANCH), it.has("pawl/state")]).toEqual([true, false]);
  await ok(it.home.pawl("sync", "--yes"));
  await ok(it.home.pawl("note", "add", "Not published yet"));
  expect((await ok(it.home.pawl("pr", "T1", "--text"))).err).not.toContain("Sending");
  const shared = await ok(it.home.pawl("pr", "T1"));
  expect(shared.out).toContain("the records are at pawl/state on origin");
  const remote = join(it.root, "remote.git");
  expect(gitIn(it, remote, "ls-tree", "--name-only", "pawl/state:notes")).toContain("N0001.md");
});
