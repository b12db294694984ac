import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect } from "vitest";
import { approval } from "../../src/model/records/run.ts";
import { handsOf } from "../helpers/audited-project.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { momentsOf, testKills } from "../helpers/kills.ts";
import type { Report } from "../helpers/operation-worker.ts";
import { gitIn, ok } from "../helpers/ready-task.ts";
import { copySigned, makeSigned, publish, type SignedProject } from "../helpers/signed-project.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { OF_THE_LOCK, runJob } from "../helpers/worker-process.ts";

const POLICY = "profile: light\napprovals: signed\nlevel: possession\nrecheck: false\n";
const BRANCH = "task/T0001-one";
const sign = { operation: "pr", input: { task: "T0001", sign: true }, typed: "T0001" };

let folder: string;
let worker: string;
let prepared: SignedProject;

beforeAll(async () => {
  folder = makeTemporaryFolder("request crash");
  const entry = fileURLToPath(new URL("../helpers/operation-worker.ts", import.meta.url));
  worker = await bundleProgram(entry, folder, "worker");
  prepared = await makeSigned(join(folder, "first"), POLICY);
  await prepared.ready("one");
  await publish(prepared);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const copyOf = (name: string) => copySigned(prepared, join(folder, name));

/** The records are whole, and the remote has the branch only once somebody signed for it; answers whether one did. */
async function expectTruth(it: SignedProject, when: string): Promise<boolean> {
  await ok(it.home.pawl("note", "add", "the next command"));
  const requests = await handsOf(it.home).look((reader) => reader.parts(approval, "T0001"));
  expect(requests.problems, when).toEqual([]);
  const values = requests.records.map((one) => one.value);
  expect(values.length, when).toBeLessThanOrEqual(1);
  const head = it.git("rev-parse", BRANCH);
  for (const one of values)
    expect([one.status, one.repos[0]?.head, one.signatures.length], when).toEqual(["requested", head, 1]);
  const published = gitIn(it, it.remote, "for-each-ref", "--format=%(objectname)", `refs/heads/${BRANCH}`);
  expect(["", ...(values.length > 0 ? [head] : [])], when).toContain(published);
  const audit = await it.audit("--offline");
  expect([audit.code, audit.findings, audit.reasons], when).toEqual([0, [], []]);
  return values.length > 0;
}

/** Asked for once more it ends, and what the host makes of it is explained. */
async function expectExplained(it: SignedProject, when: string): Promise<void> {
  await ok(it.types("T0001", "pr", "T1", "--sign"));
  await ok(it.home.pawl("sync", "--yes"));
  const host = join(it.root, "host");
  gitIn(it, it.root, "clone", "-q", it.remote, host);
  gitIn(it, host, "merge", "-q", "--no-ff", "-m", "Merge pull request #1", `origin/${BRANCH}`);
  gitIn(it, host, "push", "-q", "origin", "main");
  const ci = await it.ci();
  expect([ci.code, ci.findings, ci.counts.pull_request], when).toEqual([0, [], 1]);
}

testKills("signing a request leaves it signed or not, never in between", {
  decided: "journal",
  async kill(choose) {
    const whole = copyOf("whole");
    const { steps } = (await runJob(worker, whole.home, sign)) as Report;
    expect(await expectTruth(whole, "uninterrupted")).toBe(true);
    const moments = choose(momentsOf(steps), ({ name }) => !OF_THE_LOCK.includes(name));
    const outcomes: boolean[] = [];
    for (const { n: killAtStep, name } of moments) {
      const it = copyOf(`killed ${killAtStep}`);
      const when = `killed at ${killAtStep}, ${name}`;
      expect(await runJob(worker, it.home, { ...sign, killAtStep }), when).toBeUndefined();
      const signed = await expectTruth(it, when);
      const isNew = !outcomes.includes(signed);
      outcomes.push(signed);
      if (isNew || killAtStep === moments.at(-1)?.n) await expectExplained(it, when);
      rmSync(it.root, { recursive: true, force: true, maxRetries: 3 });
    }
    expect(new Set(outcomes)).toEqual(new Set([true, false]));
  },
});
