// @module-tag proof
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { openProject } from "../helpers/command-line.ts";
import { complaintsOf, type FoundRecord, inspectStore } from "../helpers/store-verifier.ts";
import {
  askStateGit,
  copyRepository,
  makeRepository,
  makeTemporaryFolder,
  stateGitDirOf,
  stateOf,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { runJob, startNode } from "../helpers/worker-process.ts";

let root: string;
let pawl: string;
let worker: string;
let unused: TemporaryRepository;
let prepared: TemporaryRepository;
let copies = 0;

beforeAll(async () => {
  root = makeTemporaryFolder("half made");
  pawl = await bundleProgram(join(import.meta.dirname, "../../src/cli/program.ts"), root, "pawl");
  worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  unused = makeRepository(root, "unused project");
  prepared = makeRepository(root, "used project");
  for (const title of ["one", "two", "three"]) await expectDone(prepared, "task", "new", title);
  await expectDone(prepared, "note", "add", "a note");
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const copyOf = (repository: TemporaryRepository) =>
  copyRepository(repository, join(root, `copy ${++copies}`));

/** In this process: nobody kills it. */
async function expectDone(repository: TemporaryRepository, ...args: string[]): Promise<void> {
  const { code, json, err } = await openProject(repository).pawl(...args, "--json");
  expect({ code, ok: json.ok }, err).toEqual({ code: 0, ok: true });
  expect(json.warnings.filter((warning: string) => /not yet|could not/.test(warning))).toEqual([]);
}

/** The titles of all records, of a store without a contradiction whose last commit holds every one of them. */
function checkedTitles(repository: TemporaryRepository): string[] {
  const { records, violations } = inspectStore(stateOf(repository));
  expect(complaintsOf(violations)).toEqual({});
  expect(askStateGit(repository, "fsck", "--no-dangling", "--no-progress")).toBe("");
  const committed = askStateGit(repository, "ls-tree", "-r", "--name-only", "pawl/state").split("\n");
  const isRecord = (path: string) => !path.startsWith("events/");
  expect(committed.filter(isRecord).sort()).toEqual(records.map((record) => record.path).sort());
  return records.map((record: FoundRecord) => String(record.value.title)).sort();
}

describe("the very first write", () => {
  /** What it leaves when it is killed at that moment, alone or with the gits that it started. */
  async function killedWhen(
    moment: (repository: TemporaryRepository, ended: Promise<unknown>) => Promise<unknown>,
    withGroup: boolean,
  ) {
    const repository = copyOf(unused);
    const { child, ending } = startNode(repository, [pawl, "task", "new", "first"], { detached: true });
    await moment(repository, ending);
    killHard(child.pid, withGroup);
    await ending;
    const halfMade = existsSync(join(repository.path, ".git", "pawl"));
    await expectDone(repository, "task", "new", "after the kill");
    const titles = checkedTitles(repository);
    expect([["after the kill"], ["after the kill", "first"]]).toContainEqual(titles);
    rmSync(repository.path, { recursive: true, force: true, maxRetries: 3 });
    return titles.length === 2 ? "present" : halfMade ? "half made" : "absent";
  }

  test("killed at any time, alone or with its git: the next command works, and nothing is there twice", {
    tags: ["long"],
    timeout: 240_000,
  }, async () => {
    const started = performance.now();
    expect((await startNode(copyOf(unused), [pawl, "task", "new", "first"]).ending).code).toBe(0);
    const duration = performance.now() - started;
    const rounds = 24;
    for (let round = 0; round < rounds; round++)
      await killedWhen(() => delay((duration * 1.1 * round) / rounds), round % 2 === 1);
    // However fast the machine is meanwhile: before anything, when something is there, and when all of it is.
    const begun = (repository: TemporaryRepository) =>
      vi.waitUntil(() => existsSync(join(repository.path, ".git", "pawl")), { timeout: 60_000, interval: 1 });
    expect(await killedWhen(async () => {}, true)).toBe("absent");
    expect(await killedWhen(begun, true)).not.toBe("absent");
    expect(await killedWhen((_, ended) => ended, true)).toBe("present");
  });

  test("killed at every call that changes the disk or starts git", async () => {
    const seen = new Set<string>();
    const first = { operation: "task.new", input: { title: "first" } };
    let at = 1;
    for (; ; at++) {
      const repository = copyOf(unused);
      const finished = await runJob(worker, repository, { ...first, fault: { kind: "kill", at } });
      if (finished) break;
      await expectDone(repository, "task", "new", "after the kill");
      const titles = checkedTitles(repository);
      expect([["after the kill"], ["after the kill", "first"]]).toContainEqual(titles);
      seen.add(titles.length === 2 ? "present" : "absent");
      rmSync(repository.path, { recursive: true, force: true, maxRetries: 3 });
    }
    expect(at).toBeGreaterThan(30);
    expect(seen).toEqual(new Set(["absent", "present"]));
  }, 240_000);
});

/** A process that is gone already, and a group whose leader is, are as good as killed. */
function killHard(pid: number | undefined, withGroup: boolean): void {
  if (pid === undefined) throw new Error("The process did not start");
  try {
    process.kill(withGroup ? -pid : pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

const longAgo = (path: string) => utimesSync(path, new Date(0), new Date(0));

function leave(path: string, text = ""): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  longAgo(path);
}

describe("what a kill inside git can leave behind", () => {
  const ALL = ["a note", "after the kill", "one", "three", "two"];

  test("a git directory that git itself does not recognise", async () => {
    const repository = copyOf(unused);
    leave(join(stateGitDirOf(repository), "HEAD"), "ref: refs/heads/pawl/state\n");
    leave(join(`${stateGitDirOf(repository)}.new-1-unfinished`, "HEAD"));
    await expectDone(repository, "task", "new", "after the kill");
    expect(checkedTitles(repository)).toEqual(["after the kill"]);
    const unfinished = readdirSync(dirname(stateGitDirOf(repository))).filter((name) =>
      name.includes(".new-"),
    );
    expect(unfinished).toEqual([]);
  });

  for (const lock of ["refs/heads/pawl/state.lock", "HEAD.lock"])
    test(`an old ${lock} keeps no commit out`, async () => {
      const repository = copyOf(prepared);
      leave(join(stateGitDirOf(repository), lock));
      await expectDone(repository, "task", "new", "after the kill");
      expect(checkedTitles(repository)).toEqual(ALL);
    });

  test("an old config.lock keeps nobody out of a copied repository", async () => {
    const repository = copyOf(prepared);
    askStateGit(repository, "config", "core.worktree", "somewhere else");
    leave(join(stateGitDirOf(repository), "config.lock"));
    rmSync(join(repository.path, ".git", "pawl", "clone"));
    await expectDone(repository, "task", "new", "after the kill");
    expect(checkedTitles(repository)).toEqual(ALL);
  });

  test("a remembered index that is torn is made anew", async () => {
    const repository = copyOf(prepared);
    expect(readdirSync(stateGitDirOf(repository))).toContain("index");
    writeFileSync(join(stateGitDirOf(repository), "index"), "DIRC torn");
    await expectDone(repository, "task", "new", "after the kill");
    expect(checkedTitles(repository)).toEqual(ALL);
  });

  test("private indexes of killed processes are swept by age", async () => {
    const repository = copyOf(prepared);
    const [old, young] = ["pawl-index-1-old", "pawl-index-1-young"].map((name) =>
      join(stateGitDirOf(repository), name),
    ) as [string, string];
    leave(old);
    writeFileSync(young, "");
    await expectDone(repository, "task", "new", "after the kill");
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  });
});

describe("a deleted state folder that is being brought back", () => {
  const write = { operation: "task.new", input: { title: "after the loss" } };
  const ALL = ["a note", "after the loss", "one", "three", "two"];

  test("killed at every call: the next command brings back all of it", async () => {
    const seen = new Set<string>();
    let at = 1;
    for (; ; at++) {
      const repository = copyOf(prepared);
      rmSync(stateOf(repository), { recursive: true });
      if (await runJob(worker, repository, { ...write, fault: { kind: "kill", at } })) break;
      await expectDone(repository, "note", "add", "the next command");
      const titles = checkedTitles(repository).filter((title) => title !== "the next command");
      expect([ALL, ALL.filter((title) => title !== "after the loss")]).toContainEqual(titles);
      seen.add(titles.length === ALL.length ? "present" : "absent");
      rmSync(repository.path, { recursive: true, force: true, maxRetries: 3 });
    }
    expect(at).toBeGreaterThan(30);
    expect(seen).toEqual(new Set(["absent", "present"]));
  }, 240_000);

  test("what is newer than its history stays when only the link to the history is gone", async () => {
    const repository = copyOf(prepared);
    await expectDone(repository, "decide", "not committed yet", "--why", "no milestone", "--task", "T0001");
    rmSync(join(stateOf(repository), ".git"));
    await expectDone(repository, "task", "new", "after the loss");
    const decisions = inspectStore(stateOf(repository)).records.filter(
      (record) => record.kind === "decision",
    );
    expect(decisions).toHaveLength(1);
    expect(checkedTitles(repository)).toHaveLength(ALL.length + 1);
  });
});
