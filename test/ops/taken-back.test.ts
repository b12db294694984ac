// @module-tag proof
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitIn, ok } from "../helpers/ready-task.ts";
import { copySigned, makeSigned, type SignedProject } from "../helpers/signed-project.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** Somebody without a key takes a protected branch of the remote back behind what was signed, or takes it away. */
const POLICY =
  'profile: light\nchecks: none\nprotected: [main, "release/*"]\napprovals: signed\nlevel: possession\n';
const RECORD = "tasks/T0001/approvals/A1.md";

let folder: string;
let project: SignedProject;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("taken back");
  project = await makeSigned(join(folder, "first"), POLICY);
  await project.ready("one");
  await ok(project.types("T0001", "approve", "T1", "--finish", "--push"));
  await ok(project.home.pawl("sync", "--yes"));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = () => copySigned(project, join(folder, `copy ${++copies}`));
const force = (it: SignedProject, ...refs: string[]) =>
  it.git("push", "-q", "--no-verify", "--force", "origin", ...refs);
const found = async (it: SignedProject) => {
  const { code, findings } = await it.ci();
  return [code, ...findings];
};

/** The records of the remote, changed by hand and sent after what is there. */
function forge(it: SignedProject, change: (state: string) => void): void {
  const state = join(it.root, "forged");
  gitIn(it, it.root, "clone", "-q", "--template=", "-b", "pawl/state", it.remote, state);
  change(state);
  gitIn(it, state, "add", "-A");
  gitIn(it, state, "commit", "-q", "-m", "forged");
  gitIn(it, state, "push", "-q", "origin", "pawl/state");
}

const logIn = (state: string) =>
  join(state, gitIn(project, state, "ls-files", "events").split("\n")[0] as string);

/** Another text for the approval, with an event that tells of it. */
const rewrite = (edit: (text: string) => string) => (state: string) => {
  const text = edit(readFileSync(join(state, RECORD), "utf8"));
  writeFileSync(join(state, RECORD), text);
  const lines = readFileSync(logIn(state), "utf8").split("\n").filter(Boolean);
  const last = lines.map((line) => JSON.parse(line)).findLast((one) => one.path === RECORD);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  appendFileSync(logIn(state), `\n${JSON.stringify({ ...last, text: digest, before: last.text })}\n`);
};

describe("CI, which has only what the branches have", () => {
  test("tells of a branch that was taken back behind what was signed", async () => {
    const it = fresh();
    expect(await found(it)).toEqual([0]);
    force(it, "main~1:main");
    expect(await found(it)).toEqual([1, "approved_missing"]);
  });

  test.each([
    [
      "says that it was rolled back",
      (text: string) =>
        text.replace("status: merged", "status: rolled_back").replace(/^ +pushed: true\n/m, ""),
    ],
    ["says that it was never published", (text: string) => text.replace(/^ +pushed: true\n/m, "")],
    ["lost its signature", (text: string) => text.replace(/^ +ssh: .*$/m, '    ssh: "AAAA"')],
  ])("tells so also if the record now %s", async (_what, edit) => {
    const it = fresh();
    forge(it, rewrite(edit));
    force(it, "main~1:main");
    expect(await found(it)).toEqual([1, "approved_missing"]);
  });

  test("tells so also if the record is gone, with all that was logged of it", async () => {
    const it = fresh();
    forge(it, (state) => {
      rmSync(join(state, RECORD));
      const lines = readFileSync(logIn(state), "utf8").split("\n");
      writeFileSync(logIn(state), lines.filter((line) => !line.includes(RECORD)).join("\n"));
    });
    force(it, "main~1:main");
    expect(await found(it)).toEqual([1, "approved_missing"]);
  });

  test("tells so also if a record that nobody signed claims that the merge was made again", async () => {
    const it = fresh();
    forge(it, (state) => {
      const there = it.git("rev-parse", "main~1");
      const text = readFileSync(join(state, RECORD), "utf8")
        .replaceAll("T0001/A1", "T0001/A2")
        .replace(/^ {4}old: .*$/m, `    old: "${"e".repeat(40)}"`)
        .replace(/^ {4}new: .*$/m, `    new: "${there}"`)
        .replace(/^signatures:\n[\s\S]*?(?=^\S)/m, "")
        .replace(/^how: .*$/m, "how: typed T0001 on a terminal");
      const path = RECORD.replace("A1", "A2");
      writeFileSync(join(state, path), text);
      const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
      const event = { time: "2026-01-01T00:00:00.000Z", event: "approve", record: "T0001/A2@3", path };
      appendFileSync(logIn(state), `\n${JSON.stringify({ ...event, actor: "human:Ada", text: digest })}\n`);
    });
    force(it, "main~1:main");
    expect((await found(it)).slice(1)).toContain("approved_missing");
  });

  test("tells so also if an unlock that nobody signed claims to have taken it out", async () => {
    const it = fresh();
    forge(it, (state) => {
      const [old, fresh] = [it.git("rev-parse", "main"), it.git("rev-parse", "main~1")];
      const path = "unlocks/U0009.md";
      const from = gitIn(it, state, "ls-files", "unlocks").split("\n").at(-1) as string;
      const text = readFileSync(join(state, from), "utf8")
        .replace(/^id: .*$/m, "id: U0009")
        .replace(/^signatures:\n[\s\S]*?(?=^\S)/m, "")
        .replace(/^moves:\n[\s\S]*?(?=^\S)/m, `moves:\n  - old: "${old}"\n    new: "${fresh}"\n`);
      writeFileSync(join(state, path), text);
      const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
      const event = { time: "2026-01-01T00:00:00.000Z", event: "unlock", record: "U0009@3", path };
      appendFileSync(logIn(state), `\n${JSON.stringify({ ...event, actor: "human:Ada", text: digest })}\n`);
    });
    force(it, "main~1:main");
    expect(await found(it)).toEqual([1, "approved_missing"]);
  });

  test("is content if a human took several merges out and signed for it", async () => {
    const it = fresh();
    await it.ready("two");
    await ok(it.types("T0002", "approve", "T2", "--finish", "--push"));
    await ok(it.types("main", "unlock", "main", "--for", "1m"));
    it.git("reset", "-q", "--hard", "main~2");
    await ok(it.types("main", "unlock", "main", "--end"));
    await ok(it.home.pawl("sync", "--yes"));
    force(it, "main");
    expect(await found(it)).toEqual([0]);
  });

  test("tells of a protected branch that was made later, published and deleted", async () => {
    const it = fresh();
    it.git("branch", "release/1", "main");
    await it.readyOn("release/1", "two");
    await ok(it.types("T0002", "approve", "T2", "--finish", "--push"));
    await ok(it.home.pawl("sync", "--yes"));
    expect(await found(it)).toEqual([0]);
    force(it, ":release/1");
    expect(await found(it)).toEqual([1, "branch_deleted"]);
  });
});
