import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { momentsOf, testKills } from "../helpers/kills.ts";
import type { Job, Report } from "../helpers/operation-worker.ts";
import { type Answer, runHere } from "../helpers/perform-job.ts";
import { complaintsOf, type FoundRecord, inspectStore } from "../helpers/store-verifier.ts";
import {
  askStateGit,
  copyRepository,
  makeRepository,
  makeTemporaryFolder,
  stateOf,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

let root: string;
let worker: string;
let prepared: TemporaryRepository;
let copies = 0;

type Call = Pick<Job, "operation" | "input">;

interface Interrupted extends Call {
  /** Each thing that the operation leaves behind, counted: all of them are there once, or none is. */
  traces(records: readonly FoundRecord[]): number[];
}

const MARK = "the interrupted one";
const NEXT: Call = { operation: "task.new", input: { title: "the next command" } };

const withText = (records: readonly FoundRecord[], kind: string, field: string) =>
  records.filter((record) => record.kind === kind && record.value[field] === MARK).length;
const valuesOf = (records: readonly FoundRecord[], id: string) =>
  records.find((record) => record.id === id)?.value ?? {};

const INTERRUPTED: Interrupted[] = [
  {
    operation: "task.new",
    input: { title: MARK },
    traces: (records) => [withText(records, "task", "title")],
  },
  {
    operation: "task.update",
    input: { task: "T0002", title: MARK, rev: 1 },
    traces: (records) => [withText(records, "task", "title"), Number(valuesOf(records, "T0002").rev) - 1],
  },
  {
    operation: "decide",
    input: { task: "T0001", what: MARK, why: "to see it survive" },
    traces: (records) => [withText(records, "decision", "what")],
  },
  {
    operation: "slice.close",
    input: { task: "T0001", slice: "S1", decision: MARK },
    traces: (records) => {
      const slices = valuesOf(records, "T0001").slices as { status: string; decision?: string }[];
      const closed = slices.filter((slice) => slice.status === "closed" && slice.decision === "T0001/D2");
      return [withText(records, "decision", "what"), closed.length];
    },
  },
  {
    operation: "finding.resolve",
    input: { finding: "T0001/F1", note: MARK },
    traces: (records) => [
      withText(records, "finding", "resolution"),
      Number(valuesOf(records, "T0001/F1").status === "fixed"),
    ],
  },
  {
    operation: "note.add",
    input: { title: MARK, text: "a note" },
    traces: (records) => [withText(records, "note", "title")],
  },
];

beforeAll(async () => {
  root = makeTemporaryFolder("crash");
  worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  prepared = makeRepository(root);
  const seeds: Call[] = [
    { operation: "task.new", input: { title: "first", objective: "to be interrupted" } },
    { operation: "task.new", input: { title: "second" } },
    { operation: "task.update", input: { task: "T0001", status: "active" } },
    { operation: "slice.open", input: { title: "a slice" } },
    { operation: "decide", input: { what: "an earlier decision", why: "to have one" } },
    { operation: "finding.add", input: { text: "something is wrong", severity: "high" } },
    { operation: "note.add", input: { title: "an earlier note" } },
  ];
  for (const seed of seeds) expect(await runHere(prepared, seed)).toMatchObject({ ok: true });
  expect(inspectStore(stateOf(prepared)).records).toHaveLength(5);
  // A finding is settled by a commit that came after it.
  writeFileSync(join(prepared.path, "fix.txt"), "fixed\n");
  for (const args of [
    ["add", "fix.txt"],
    ["commit", "-q", "-m", "Fix it"],
  ])
    execFileSync("git", args, { cwd: prepared.path, env: prepared.env });
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const copyOf = (repository: TemporaryRepository) =>
  copyRepository(repository, join(root, `copy ${++copies}`));
const remove = (repository: TemporaryRepository) => rmSync(repository.path, { recursive: true, force: true });

/** The records, after checking that the store holds no contradiction. */
function checkedRecords(repository: TemporaryRepository): FoundRecord[] {
  const { records, violations } = inspectStore(stateOf(repository));
  expect(complaintsOf(violations)).toEqual({});
  return records;
}

/** What the last milestone committed is exactly what lies in the folder. */
function expectCommitted(repository: TemporaryRepository, records: readonly FoundRecord[]): void {
  expect(askStateGit(repository, "fsck", "--no-dangling", "--no-progress")).toBe("");
  const committed = askStateGit(repository, "ls-tree", "-r", "--format=%(objectname) %(path)", "pawl/state");
  const lines = committed.split("\n").filter((line) => !line.includes(" events/"));
  const paths = records.map((record) => record.path);
  const hashes = execFileSync("git", ["hash-object", "--stdin-paths"], {
    cwd: stateOf(repository),
    env: repository.env,
    input: paths.join("\n"),
    encoding: "utf8",
  }).trim();
  const expected = hashes.split("\n").map((hash, index) => `${hash} ${paths[index]}`);
  expect(lines.sort()).toEqual(expected.sort());
}

type Outcome = "present" | "absent";

function outcomeOf(interrupted: Interrupted, records: readonly FoundRecord[]): Outcome {
  const traces = interrupted.traces(records);
  expect([traces.map(() => 0), traces.map(() => 1)]).toContainEqual(traces);
  return traces[0] === 1 ? "present" : "absent";
}

/** After a kill another command succeeds, and what it finds and commits holds no contradiction. */
async function goOnWithAnother(interrupted: Interrupted, repository: TemporaryRepository): Promise<Outcome> {
  expect(await runHere(repository, NEXT)).toMatchObject({ ok: true, warnings: [] });
  const records = checkedRecords(repository);
  expect(records.filter((record) => record.value.title === "the next command")).toHaveLength(1);
  expectCommitted(repository, records);
  return outcomeOf(interrupted, records);
}

/** After a kill the same call with the same key succeeds, and is not applied twice. */
async function goOnWithTheSame(interrupted: Interrupted, repository: TemporaryRepository, key: string) {
  const { operation, input } = interrupted;
  expect(await runHere(repository, { operation, input, key })).toMatchObject({ ok: true });
  const { records, violations } = inspectStore(stateOf(repository));
  // An answer that is already known needs no lock, so the killed process's intent may wait for the next write.
  const leftOver = violations.leftOver.filter((path) => !path.startsWith(".local/lock/"));
  expect(complaintsOf({ ...violations, leftOver })).toEqual({});
  expect(outcomeOf(interrupted, records)).toBe("present");
}

/** Once the operation has become lasting it stays so: first every kill leaves nothing, then every kill leaves all. */
function expectBothInOrder(outcomes: readonly Outcome[]): void {
  expect(new Set(outcomes)).toEqual(new Set(["absent", "present"]));
  expect([...outcomes].sort()).toEqual(outcomes);
}

describe("kill -9 of a change of the store", () => {
  for (const interrupted of INTERRUPTED)
    testKills(`${interrupted.operation} is wholly there or not at all, and can be repeated`, {
      decided: "journal",
      isVariant: interrupted.operation !== "slice.close",
      async kill(choose) {
        const { operation, input } = interrupted;
        const whole = copyOf(prepared);
        const { steps } = (await runJob(worker, whole, { operation, input, key: "whole" })) as Report;
        expect(outcomeOf(interrupted, checkedRecords(whole))).toBe("present");
        const outcomes: Outcome[] = [];
        for (const { n } of choose(momentsOf(steps))) {
          const repository = copyOf(prepared);
          const call = { operation, input, key: `${operation} ${n}` };
          expect(await runJob(worker, repository, { ...call, killAtStep: n })).toBeUndefined();
          const copy = copyOf(repository);
          const [outcome] = await Promise.all([
            goOnWithAnother(interrupted, repository),
            goOnWithTheSame(interrupted, copy, call.key),
          ]);
          outcomes.push(outcome);
          for (const one of [copy, repository]) remove(one);
        }
        expectBothInOrder(outcomes);
      },
    });
});

describe("kill -9 at every call that changes the disk or starts git", { tags: ["proof"] }, () => {
  for (const operation of ["task.new", "slice.close"])
    test(`${operation} is wholly there or not at all`, async () => {
      const interrupted = INTERRUPTED.find((one) => one.operation === operation) as Interrupted;
      const outcomes: Outcome[] = [];
      for (let at = 1; ; at++) {
        const repository = copyOf(prepared);
        const call = { operation, input: interrupted.input, key: `${operation} ${at}` };
        const finished = await runJob(worker, repository, { ...call, fault: { kind: "kill", at } });
        if (finished) {
          expect(finished).toMatchObject({ ok: true });
          break;
        }
        outcomes.push(await goOnWithAnother(interrupted, repository));
        remove(repository);
      }
      expect(outcomes.length).toBeGreaterThan(25);
      expectBothInOrder(outcomes);
    }, 240_000);
});

test("a power cut that tears the event log: the next command adds what is missing, and only that", {
  tags: ["proof"],
}, async () => {
  const repository = copyOf(prepared);
  const { operation, input } = INTERRUPTED.find((one) => one.operation === "slice.close") as Interrupted;
  const finished = await runJob(worker, copyOf(prepared), { operation, input });
  const afterEvents = (finished as Report).steps.indexOf("key") + 1;
  expect(await runJob(worker, repository, { operation, input, killAtStep: afterEvents })).toBeUndefined();
  const folder = join(stateOf(repository), "events");
  const [log = ""] = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(".jsonl"));
  truncateSync(join(folder, log), statSync(join(folder, log)).size - 5);

  expect(await runHere(repository, NEXT)).toMatchObject({ ok: true, warnings: [] });
  const { torn, ...others } = inspectStore(stateOf(repository)).violations;
  expect(complaintsOf({ ...others, torn: [] })).toEqual({});
  expect(torn).toHaveLength(1);
  expect(torn[0]).toContain("events/");
});

describe("a record that somebody edits between a kill and the next command", { tags: ["proof"] }, () => {
  const RECORD = "tasks/T0001/task.md";

  /** Killed just before the n-th record is put in its place; then the task is edited by hand. */
  async function editedAfterKill(operation: string, nth: number) {
    const repository = copyOf(prepared);
    const { input } = INTERRUPTED.find((one) => one.operation === operation) as Interrupted;
    const { steps } = (await runJob(worker, copyOf(prepared), { operation, input })) as Report;
    const places = steps.flatMap((name, at) => (name.startsWith("apply ") ? [at + 1] : []));
    const killAtStep = places[nth] as number;
    expect(await runJob(worker, repository, { operation, input, key: "k", killAtStep })).toBeUndefined();
    const file = join(stateOf(repository), RECORD);
    const edited = readFileSync(file, "utf8").replace("title: first", "title: edited by hand");
    expect(edited).toContain("edited by hand");
    writeFileSync(file, edited);
    return { repository, file, edited, call: { operation, input, key: "k" } };
  }

  const rescuedIn = (repository: TemporaryRepository) => {
    const folder = join(stateOf(repository), ".local/rescued");
    return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  };

  test.each([
    ["before anything was in its place", 0],
    ["after the other record was in its place", 1],
  ])("%s: the edit stays, what the killed command wrote is kept, and both are told", async (_, nth) => {
    const { repository, file, edited } = await editedAfterKill("slice.close", nth);
    const next = (await runHere(repository, NEXT)) as Answer & { ok: true };
    expect(next.ok).toBe(true);
    expect(readFileSync(file, "utf8")).toBe(edited);
    expect(rescuedIn(repository)).toEqual([expect.stringContaining("status: closed")]);
    expect(next.warnings).toEqual([expect.stringMatching(/T0001.task\.md was edited .* stays.*rescued/)]);
    const { leftOver, ...others } = inspectStore(stateOf(repository)).violations;
    expect(complaintsOf({ ...others, leftOver: [] })).toEqual({});
    expect(leftOver).toEqual([expect.stringMatching(/^\.local\/rescued\//)]);
  });

  test("repeating the killed call with its key does it, on top of the edit", async () => {
    const { repository, file, call } = await editedAfterKill("slice.close", 0);
    expect(await runHere(repository, call)).toMatchObject({ ok: true });
    const text = readFileSync(file, "utf8");
    expect(text).toContain("title: edited by hand");
    expect(text).toContain("status: closed");
  });
});

test("a journal that leads out of the state is set aside, and nothing outside is written", {
  tags: ["proof"],
}, async () => {
  const repository = copyOf(prepared);
  const local = join(stateOf(repository), ".local");
  mkdirSync(join(local, "journal"), { recursive: true });
  mkdirSync(join(local, "tmp"), { recursive: true });
  writeFileSync(join(local, "tmp/planted"), "planted");
  const steps = [{ do: "create", staged: "planted", path: "../../../planted.txt", after: "" }];
  const journal = { tx: "aa", steps, log: "events/x/2026-01.jsonl", lines: "" };
  writeFileSync(join(local, "journal/aa.json"), JSON.stringify(journal));
  expect(await runHere(repository, NEXT)).toMatchObject({ ok: true });
  expect(existsSync(join(repository.path, "../planted.txt"))).toBe(false);
  expect(readdirSync(join(local, "rescued"))).toEqual(["aa.json"]);
  expect(readdirSync(join(local, "journal"))).toEqual([]);
});
