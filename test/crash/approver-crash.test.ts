import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect } from "vitest";
import { auditIn, guardFromHere } from "../helpers/audited-project.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { momentsOf, testKills } from "../helpers/kills.ts";
import type { Report } from "../helpers/operation-worker.ts";
import { runHere } from "../helpers/perform-job.ts";
import { ok, typing } from "../helpers/ready-task.ts";
import { keyFolder, PLAIN_KEY } from "../helpers/signed-project.ts";
import { makeKey } from "../helpers/ssh-keys.ts";
import { copyRepository, makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

let root: string;
let worker: string;
let prepared: Project;
let add: { operation: string; input: object; typed: string };

beforeAll(async () => {
  root = makeTemporaryFolder("approver crash");
  const entry = fileURLToPath(new URL("../helpers/operation-worker.ts", import.meta.url));
  worker = await bundleProgram(entry, root, "worker");
  mkdirSync(keyFolder(root));
  const { file } = makeKey(keyFolder(root), "ada", PLAIN_KEY);
  prepared = openProject(makeRepository(root));
  prepared.commit(".gitignore", ".pawl/state\n");
  await ok(prepared.pawl("note", "add", "The first"));
  await guardFromHere(prepared, true, "my project");
  add = { operation: "approver.add", input: { name: "Ada", ssh: `${file}.pub` }, typed: "ada" };
}, 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const copyOf = (name: string) => openProject(copyRepository(prepared, join(root, name, "my project")));

/** The branch, its checkout and the records say the same; answers whether the key is enrolled. */
async function expectTruth(copy: Project, when: string): Promise<boolean> {
  const next = await typing({ root, env: copy.env, repos: [copy] }, {}, "note", "add", "the next command");
  expect(next.code, when).toBe(0);
  const enrolled = copy.git("ls-tree", "main", "--", ".pawl/approvers.yaml") !== "";
  expect(existsSync(join(copy.path, ".pawl/approvers.yaml")), when).toBe(enrolled);
  expect(copy.git("status", "--porcelain"), when).toBe("");
  expect(existsSync(join(copy.path, ".git/pawl/grants/update/refs/heads/main")), when).toBe(false);
  const audit = await auditIn(copy);
  expect([audit.findings, audit.reasons], when).toEqual([[], []]);
  return enrolled;
}

testKills("enrolling a key leaves it enrolled or not, never in between", {
  decided: "merge-journal decided",
  async kill(choose) {
    const whole = copyOf("whole");
    const { steps } = (await runJob(worker, whole, add)) as Report;
    expect(await expectTruth(whole, "uninterrupted")).toBe(true);
    // The steps of the store's own lock and of its files are killed elsewhere.
    const wanted = choose(momentsOf(steps), ({ name }) => /^(?:merge|unlock|ref|index|checkout)/.test(name));
    const outcomes: boolean[] = [];
    for (const { n: killAtStep, name } of wanted) {
      const copy = copyOf(`killed ${killAtStep}`);
      const when = `killed at ${killAtStep}, ${name}`;
      expect(await runJob(worker, copy, { ...add, killAtStep }), when).toBeUndefined();
      const enrolled = await expectTruth(copy, when);
      outcomes.push(enrolled);
      // Where it was taken back, and where it was completed, it may be asked for again.
      if (outcomes.length > 1 && killAtStep !== wanted.at(-1)?.n) continue;
      const again = await runHere(copy, add);
      expect(again, when).toMatchObject(enrolled ? { ok: false, code: "already_enrolled" } : { ok: true });
    }
    expect(new Set(outcomes)).toEqual(new Set([true, false]));
  },
});
