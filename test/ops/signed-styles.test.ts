import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitIn, ok } from "../helpers/ready-task.ts";
import { copySigned, makeSigned, PLAIN_KEY, publish, type SignedProject } from "../helpers/signed-project.ts";
import { makeKey, type TestKey } from "../helpers/ssh-keys.ts";
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";

let folder: string;
let project: SignedProject;
/** A key that nobody enrolled. */
let eve: TestKey;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("signed styles");
  project = await makeSigned(
    join(folder, "first"),
    "profile: light\napprovals: signed\nlevel: possession\nrecheck: false\n",
  );
  eve = makeKey(folder, "eve", PLAIN_KEY);
  await project.ready("one");
  await publish(project);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = () => copySigned(project, join(folder, `copy ${++copies}`));
const approve = (it: SignedProject, task: string, ...argv: string[]) =>
  it.types(task.replace("T", "T000"), "approve", task, ...argv);

describe("under `approvals: signed`", () => {
  test.each(["squash", "ff"])(
    "style %s is signed as what it is, and CI believes it",
    { tags: ["proof"] },
    async (style) => {
      const it = fresh();
      const before = it.git("rev-parse", "main");
      const done = await ok(approve(it, "T1", "--style", style));
      expect(done.json.data.approval).toMatchObject({
        how: "signed by Ada with ada (possession)",
        repos: [{ style, old: before, new: it.git("rev-parse", "main") }],
      });
      await publish(it);
      const ci = await it.ci();
      expect([ci.code, ci.reasons, ci.findings]).toEqual([0, [], []]);
      expect(ci.counts.approved).toBe(1);
      // The same tree in another style is another commit, which nobody signed.
      const tree = it.git("rev-parse", "main^{tree}");
      const other = it.git("commit-tree", tree, "-p", before, "-m", "Another\n\nPawl-Approval: T0001/A1");
      gitIn(it, it.remote, "fetch", "-q", it.home.path, other);
      gitIn(it, it.remote, "update-ref", "refs/heads/main", other);
      expect((await it.ci()).code).toBe(1);
    },
  );

  test("--redo asks for a signature of its own, for the merge on the remote's tip", {
    tags: ["proof"],
    timeout: 240_000,
  }, async () => {
    const it = fresh();
    await ok(approve(it, "T1"));
    const colleague = fresh();
    await colleague.ready("two");
    await ok(approve(colleague, "T2"));
    colleague.git("push", "-q", it.remote, "main");
    gitIn(colleague, stateOf(colleague.home), "push", "-q", it.remote, "HEAD:pawl/state");
    const eves = await approve(it, "T1", "--redo", "--push", "--sign-with", eve.file);
    expect(eves.json.error.details.why).toBe("unknown_key");
    const done = await ok(approve(it, "T1", "--redo", "--push"));
    const { approval } = done.json.data;
    expect(approval).toMatchObject({ id: "T0001/A2", redo_of: "T0001/A1" });
    const first = /ssh: (\S+)/.exec(it.home.read("tasks/T0001/approvals/A1.md"))?.[1];
    expect(first).toMatch(/\w/);
    expect(it.home.read("tasks/T0001/approvals/A2.md")).not.toContain(first);
    await ok(it.home.pawl("sync", "--yes"));
    const ci = await it.ci();
    expect([ci.code, ci.reasons, ci.findings]).toEqual([0, [], []]);
    expect(ci.counts.approved).toBe(2);
  });
});
