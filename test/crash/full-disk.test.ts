// @module-tag proof
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import type { Fault } from "../helpers/fault-injection.ts";
import { type Mounted, mountOver, mountReadOnly, mountSmallDisk } from "../helpers/mounted-folder.ts";
import type { Report } from "../helpers/operation-worker.ts";
import { runHere } from "../helpers/perform-job.ts";
import { complaintsOf, type FoundRecord, inspectStore } from "../helpers/store-verifier.ts";
import {
  copyRepository,
  makeRepository,
  makeTemporaryFolder,
  stateOf,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { runJob, startNode } from "../helpers/worker-process.ts";

let root: string;
let worker: string;
let pawl: string;
let prepared: TemporaryRepository;
let copies = 0;

beforeAll(async () => {
  root = makeTemporaryFolder("full disk");
  worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  pawl = await bundleProgram(join(import.meta.dirname, "../../src/cli/program.ts"), root, "pawl");
  prepared = makeRepository(root);
  await expectDone(prepared, "task", "new", "first");
  await expectDone(prepared, "task", "update", "T0001", "--status", "active");
  await expectDone(prepared, "slice", "open", "a slice");
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

async function runPawl(repository: TemporaryRepository, ...args: string[]) {
  const { out, err, code } = await startNode(repository, [pawl, ...args, "--json"]).ending;
  expect(out, err).not.toBe("");
  const answer = JSON.parse(out) as {
    ok: boolean;
    error?: { code: string; hint?: string };
    warnings?: string[];
  };
  return { code, ...answer };
}

async function expectDone(repository: TemporaryRepository, ...args: string[]): Promise<void> {
  expect(await runPawl(repository, ...args)).toMatchObject({ code: 0, ok: true });
}

function checkedRecords(repository: TemporaryRepository): FoundRecord[] {
  const { records, violations } = inspectStore(stateOf(repository));
  expect(complaintsOf(violations)).toEqual({});
  return records;
}

const titled = (records: readonly FoundRecord[], title: string) =>
  records.filter((record) => record.value.title === title);

describe("no room at every call that would need some", () => {
  /** What was said is what is true, also after the next command: done is there, and failed will never be. */
  async function expectHonest(fault: Fault): Promise<Report> {
    const repository = copyRepository(prepared, join(root, `copy ${++copies}`));
    const input = { slice: "T0001/S1", decision: "the one without room" };
    const report = await runJob(worker, repository, { operation: "slice.close", input, key: "k", fault });
    if (!report) throw new Error("The worker was killed");
    expect(
      await runHere(repository, { operation: "task.new", input: { title: "room again" } }),
    ).toMatchObject({ ok: true, warnings: [] });
    const records = checkedRecords(repository);
    expect(titled(records, "room again")).toHaveLength(1);
    const closed = records.flatMap(
      ({ value }) =>
        (value.slices as { status: string }[] | undefined)?.filter((one) => one.status === "closed") ?? [],
    );
    const decisions = records.filter((record) => record.kind === "decision");
    expect([decisions.length, closed.length]).toEqual(report.ok ? [1, 1] : [0, 0]);
    if (!report.ok) expect(report).toMatchObject({ code: "disk_full", exitCode: 2 });
    rmSync(repository.path, { recursive: true });
    return report;
  }

  for (const kind of ["full", "refuse"] as const)
    test(kind === "full" ? "and none from then on" : "and only then", async () => {
      let [failed, done, at] = [0, 0, 1];
      for (; ; at++) {
        const report = await expectHonest({ kind, at });
        if (report.ok) done++;
        else failed++;
        if (report.moments < at) break;
      }
      expect(at).toBeGreaterThan(25);
      expect(failed).toBeGreaterThan(5);
      expect(done).toBeGreaterThan(1);
    }, 240_000);
});

function mountedOrSkipped(mounted: Mounted | string, context: TestContext): Mounted {
  if (typeof mounted === "string") context.skip(mounted);
  return mounted as Mounted;
}

describe("a disk that is really full", () => {
  for (const resource of ["bytes", "files"] as const)
    test(`of ${resource}: exit 2 and disk_full, nothing lost, and it works again with room`, async (context) => {
      const folder = join(root, `small disk of ${resource}`);
      const options = resource === "bytes" ? "size=3m" : "size=16m,nr_inodes=600";
      const disk = mountedOrSkipped(mountSmallDisk(folder, options), context);
      try {
        const repository = makeRepository(folder);
        await expectDone(repository, "task", "new", "before");
        let refused = 0;
        for (let spare = 0; ; spare++) {
          const makeRoom = takeAllButSome(folder, resource, spare);
          const full = await runPawl(repository, "note", "add", `spare ${spare}`);
          makeRoom();
          const after = { what: `after ${spare}`, why: "there is room", task: "T0001" };
          expect(await runHere(repository, { operation: "decide", input: after })).toMatchObject({
            ok: true,
          });
          expect(titled(checkedRecords(repository), `spare ${spare}`)).toHaveLength(full.ok ? 1 : 0);
          if (!full.ok) {
            refused++;
            expect(full).toMatchObject({ code: 2, error: { code: "disk_full" } });
          } else if (full.warnings?.length === 0) break;
        }
        expect(refused).toBeGreaterThan(0);
        await expectDone(repository, "task", "new", "after");
        expect(titled(checkedRecords(repository), "before")).toHaveLength(1);
      } finally {
        disk.unmount();
      }
    }, 240_000);
});

describe("a disk that is full at the very first write", () => {
  for (const resource of ["bytes", "files"] as const)
    test(`of ${resource}: exit 2 each time, and the first one with room finds no trace of the others`, async (context) => {
      const folder = join(root, `first small disk of ${resource}`);
      const options = resource === "bytes" ? "size=3m" : "size=16m,nr_inodes=600";
      const disk = mountedOrSkipped(mountSmallDisk(folder, options), context);
      try {
        const repository = makeRepository(folder);
        let refused = 0;
        for (let spare = 0; ; spare++) {
          const makeRoom = takeAllButSome(folder, resource, spare);
          const answer = await runPawl(repository, "task", "new", "first");
          makeRoom();
          if (answer.ok) break;
          refused++;
          expect(answer.code).toBe(2);
        }
        expect(refused).toBeGreaterThanOrEqual(3);
        await expectDone(repository, "task", "new", "second");
        expect(checkedRecords(repository).map((record) => record.value.title)).toEqual(["first", "second"]);
      } finally {
        disk.unmount();
      }
    }, 240_000);
});

/** Leaves this many pages or files free; returns what gives the rest back. */
function takeAllButSome(folder: string, resource: "bytes" | "files", spare: number): () => void {
  const ballast = join(folder, "ballast");
  const page = Buffer.alloc(4096);
  let count = 0;
  try {
    for (; ; count++) {
      if (resource === "bytes") appendFileSync(ballast, page);
      else writeFileSync(`${ballast}${count}`, "");
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  if (resource === "bytes") {
    truncateSync(ballast, Math.max(0, count - spare) * page.length);
    return () => unlinkSync(ballast);
  }
  for (let one = 0; one < spare; one++) unlinkSync(`${ballast}${--count}`);
  return () => {
    for (let one = 0; one < count; one++) unlinkSync(`${ballast}${one}`);
  };
}

describe("a state folder that is read-only", () => {
  for (const fresh of [false, true])
    test(`${fresh ? "and was never written to here" : "for now"}: reads work, writes exit 2 and say why`, async (context) => {
      const repository = copyRepository(prepared, join(root, `read only ${fresh}`));
      if (fresh) rmSync(join(stateOf(repository), ".local"), { recursive: true });
      const locked = mountedOrSkipped(mountReadOnly(stateOf(repository)), context);
      try {
        for (const read of [["status"], ["task", "list"], ["task", "show", "T0001"], ["session"]])
          await expectDone(repository, ...read);
        for (const write of [
          ["task", "new", "refused"],
          ["decide", "refused", "--why", "read-only"],
          ["task", "new", "refused", "--key", "k"],
        ])
          expect(await runPawl(repository, ...write)).toMatchObject({
            code: 2,
            error: { code: "state_read_only" },
          });
      } finally {
        locked.unmount();
      }
      const before = checkedRecords(repository).length;
      await expectDone(repository, "task", "new", "writable again", "--key", "k2");
      expect(checkedRecords(repository)).toHaveLength(before + 1);
    });
});

describe("a working tree that is read-only, with a git directory that is not", () => {
  test("the first write exits 2 and leaves nothing behind", async (context) => {
    const repository = makeRepository(join(root, "read-only tree"));
    const [git, aside] = [join(repository.path, ".git"), join(root, "git directory aside")];
    mkdirSync(join(git, "info"), { recursive: true });
    writeFileSync(join(git, "info/exclude"), "# mine\n");
    cpSync(git, aside, { recursive: true });
    const tree = mountedOrSkipped(mountReadOnly(repository.path), context);
    try {
      const inside = mountedOrSkipped(mountOver(aside, git), context);
      try {
        const before = namesBelow(git);
        const answer = await runPawl(repository, "task", "new", "refused");
        expect(answer).toMatchObject({ code: 2, error: { code: "state_read_only" } });
        expect(namesBelow(git)).toEqual(before);
        expect(readFileSync(join(git, "info/exclude"), "utf8")).toBe("# mine\n");
      } finally {
        inside.unmount();
      }
    } finally {
      tree.unmount();
    }
  });
});

const namesBelow = (folder: string) => readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
