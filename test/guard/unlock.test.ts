import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Audited,
  auditIn,
  cloneForCheck,
  copyAudited,
  guardFromHere,
  makeAudited,
  unlockIt,
} from "../helpers/audited-project.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import { ok, type Ready, typing } from "../helpers/ready-task.ts";
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

let folder: string;
let single: Ready;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("unlock");
  single = await makeAudited(join(folder, "single"), 1);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = () => copyAudited(single, join(folder, `copy ${++copies}`));
const grantOf = ({ home }: Audited) => join(home.path, ".git/pawl/grants/unlock/refs/heads/main");
const recordFile = ({ home }: Audited) => join(stateOf(home), "unlocks/U0001.md");
const recordOf = (it: Audited) => readFileSync(recordFile(it), "utf8");

/** Lets an open unlock end in the past, as if everybody had waited. */
function letItEnd(it: Audited, until: Date): void {
  const time = `${until.toISOString().slice(0, 19)}.000Z`;
  writeFileSync(recordFile(it), recordOf(it).replace(/^until: .*$/m, `until: "${time}"`));
  writeFileSync(grantOf(it), `${Date.parse(time) / 1000} U0001\n`);
}

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);

describe("unlock", () => {
  test("is a human's: no agent, no pipe, no other word", async () => {
    const it = fresh();
    const agent = await typing(
      it,
      { typed: "main", env: { CLAUDECODE: "1" } },
      "unlock",
      "main",
      "--for",
      "5m",
    );
    expect([agent.code, agent.json.error.code]).toEqual([1, "human_only"]);
    const claim = await typing(
      it,
      { typed: "main", env: { PAWL_ACTOR: "agent:x" } },
      "unlock",
      "main",
      "--for",
      "5m",
    );
    expect([claim.code, claim.json.error.code]).toEqual([1, "human_only"]);
    const pipe = await typing(it, {}, "unlock", "main", "--for", "5m");
    expect([pipe.code, pipe.json.error.code]).toEqual([1, "no_terminal"]);
    for (const typed of ["", "yes", "Main", "refs/heads/main"]) {
      const no = await typing(it, { typed }, "unlock", "main", "--for", "5m");
      expect([no.code, no.json.error.code]).toEqual([1, "not_confirmed"]);
    }
    expect(existsSync(grantOf(it))).toBe(false);
    expect(existsSync(recordFile(it))).toBe(false);
  });

  test("lasts at most eight hours, and only a protected branch needs it", async () => {
    const it = fresh();
    for (const time of ["9h", "481m", "0m", "10", "1d", "-5m"]) {
      const wrong = await unlockIt(it, `--for=${time}`);
      expect([time, wrong.code, wrong.json.error.code]).toEqual([time, 3, "bad_duration"]);
    }
    expect((await unlockIt(it)).json.error.code).toBe("bad_duration");
    const open = await typing(it, { typed: "side" }, "unlock", "side", "--for", "5m");
    expect([open.code, open.json.error.code]).toEqual([1, "not_protected"]);
    const before = Date.now();
    const longest = await unlockIt(it, "--for", "8h");
    expect(longest.code).toBe(0);
    const [until, id] = readFileSync(grantOf(it), "utf8").trim().split(" ");
    expect(id).toBe("U0001");
    expect(Number(until) - before / 1000).toBeGreaterThan(8 * 3600 - 2);
    expect(Number(until) - before / 1000).toBeLessThanOrEqual(8 * 3600 + 30);
  });

  test("is recorded before it opens anything, and once", async () => {
    const it = fresh();
    const tip = it.git("rev-parse", "main");
    const { json } = await unlockIt(it, "--for", "10m", "--reason", "Undo the release");
    expect(json.data.unlock).toMatchObject({
      id: "U0001",
      status: "open",
      ref: "refs/heads/main",
      repo: "shop",
      tip,
      actor: "human:Ada",
      reason: "Undo the release",
      how: "typed main on the terminal",
    });
    expect(readFileSync(grantOf(it), "utf8")).toBe(`${Date.parse(json.data.unlock.until) / 1000} U0001\n`);
    const again = await unlockIt(it, "--for", "10m");
    expect([again.code, again.json.error.code]).toEqual([1, "already_open"]);
    const found = await it.home.pawl("search", "Undo release", "--json");
    expect(found.json.data.hits[0]).toMatchObject({ id: "U0001", kind: "unlock" });
  });

  test("explains what was done while it was open, and nothing after it", async () => {
    const it = fresh();
    await ok(unlockIt(it, "--for", "10m"));
    const own = it.home.commit("by hand.txt", "by hand\n");
    const open = await it.audit();
    expect(open).toMatchObject({ code: 0, findings: [], counts: { unlocked: 1, unexplained: 0 } });
    const end = await it.home.pawl("unlock", "main", "--end", "--json");
    expect(end.json.data.unlock).toMatchObject({
      status: "closed",
      moves: [{ old: it.git("rev-parse", "main~1"), new: own }],
    });
    expect(existsSync(join(it.home.path, ".git/pawl/grants/unlock"))).toBe(false);
    expect(await it.audit()).toMatchObject({ code: 0, counts: { unlocked: 1 } });
    it.home.commit("later.txt", "later\n");
    expect(await it.audit()).toMatchObject({
      code: 1,
      reasons: ["committed_directly"],
      counts: { unlocked: 1, unexplained: 1 },
    });
    const twice = await it.home.pawl("unlock", "main", "--end", "--json");
    expect(twice.json.error.code).toBe("not_open");
  });

  test("a branch may be set back while it is open", async () => {
    const it = fresh();
    await ok(unlockIt(it, "--for", "10m"));
    it.git("update-ref", "refs/heads/main", "main~1");
    await ok(it.home.pawl("unlock", "main", "--end"));
    expect(await it.audit("--offline")).toMatchObject({ code: 0, findings: [] });
  });

  test.each(["audit", "note"])(
    "one whose time is over is closed by the next %s",
    { tags: ["proof"] },
    async (command) => {
      const it = fresh();
      await ok(unlockIt(it, "--for", "10m"));
      it.home.commit("in time.txt", "in time\n");
      letItEnd(it, inSeconds(-1));
      const args = command === "audit" ? ["audit"] : ["note", "add", "Something else"];
      // The window ended a second ago: what is committed now comes too late.
      const said = await it.home.pawl(...args);
      expect(said.err).toContain("U0001 has ended: main is closed again.");
      expect(existsSync(grantOf(it))).toBe(false);
      expect(recordOf(it)).toContain("status: closed");
    },
  );

  test("what came too late is not covered, whatever date it gives itself", async () => {
    const it = fresh();
    await ok(unlockIt(it, "--for", "10m"));
    const date = (seconds: number) => ({
      GIT_COMMITTER_DATE: `@${Math.floor(Date.now() / 1000) + seconds} +0000`,
    });
    const commit = (name: string, seconds: number) =>
      it.gitWith(date(seconds), "commit", "-q", "--allow-empty", "-m", name);
    commit("In time", 0);
    commit("Too late", 900);
    commit("Dated back", 1);
    letItEnd(it, inSeconds(600));
    const end = await it.home.pawl("unlock", "main", "--end", "--json");
    expect(end.json.data.unlock.moves).toHaveLength(1);
    const found = await it.audit();
    expect(found.counts).toMatchObject({ unlocked: 1, unexplained: 2 });
  });

  test("is told to a check of what was published", { tags: ["proof"] }, async () => {
    const it = fresh();
    await ok(unlockIt(it, "--for", "10m"));
    it.home.commit("one.txt", "one\n");
    it.home.commit("two.txt", "two\n");
    it.git("push", "-q", "origin", "main");
    await ok(it.home.pawl("sync", "--yes"));
    expect(await auditIn(cloneForCheck(it, "too early"), "--ci")).toMatchObject({
      code: 1,
      counts: { unlocked: 0, unexplained: 2 },
    });
    await ok(it.home.pawl("unlock", "main", "--end"));
    await ok(it.home.pawl("sync", "--yes"));
    expect(await auditIn(cloneForCheck(it, "check"), "--ci")).toMatchObject({
      code: 0,
      counts: { unlocked: 2, approved: 1, unexplained: 0 },
    });
  });

  test("another clone's open unlock explains nothing here, and is not closed here", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    await ok(unlockIt(it, "--for", "10m"));
    await ok(it.home.pawl("sync", "--yes"));
    const other = cloneForCheck(it, "other");
    await ok(other.pawl("sync", "--yes"));
    other.commit("theirs.txt", "theirs\n");
    expect(await auditIn(other)).toMatchObject({ code: 1, reasons: ["committed_directly"] });
    expect((await other.pawl("unlock", "main", "--end", "--json")).json.error.code).toBe("not_open");
  });

  test("works on a real terminal", async () => {
    const it = fresh();
    const program = await bundlePawl(folder);
    const no = await onTerminal(program, it.home, ["unlock", "main", "--for", "5m"], "no");
    expect(no.code).toBe(1);
    const { code, out } = await onTerminal(program, it.home, ["unlock", "main", "--for", "5m"], "main");
    expect(out).toContain("U0001 main is open until");
    expect(code).toBe(0);
  });
});

describe("a kill while a branch is opened or closed", () => {
  test("leaves no branch open that nobody has a record of, and the next command goes on", {
    timeout: 120_000,
  }, async () => {
    const worker = await bundleProgram(
      fileURLToPath(new URL("../helpers/operation-worker.ts", import.meta.url)),
      folder,
      "worker",
    );
    const open = { operation: "unlock", input: { branch: "main", for: "10m" }, typed: "main" };
    const end = { operation: "unlock", input: { branch: "main", end: true } };
    const steps = async (it: Audited, job: typeof open | typeof end) =>
      (await runJob(worker, it.home, job))?.steps ?? [];
    const whole = fresh();
    const opening = await steps(whole, open);
    const closing = await steps(whole, end);
    expect(opening).toContain("unlock grant");
    expect(closing).toContain("unlock withdraw");
    const near = (all: string[], name: string) => {
      const at = all.indexOf(name) + 1;
      return [at - 2, at, at + 1].filter((one) => one >= 1 && one <= all.length);
    };
    for (const killAtStep of near(opening, "unlock grant")) {
      const it = fresh();
      expect(await runJob(worker, it.home, { ...open, killAtStep })).toBeUndefined();
      if (existsSync(grantOf(it))) expect(recordOf(it)).toContain("status: open");
      expect((await it.audit()).findings).toEqual([]);
      await it.home.pawl("unlock", "main", "--end");
      expect(existsSync(grantOf(it))).toBe(false);
      expect((await unlockIt(it, "--for", "5m")).code).toBe(0);
    }
    for (const killAtStep of near(closing, "unlock withdraw")) {
      const it = fresh();
      await ok(unlockIt(it, "--for", "10m"));
      it.home.commit("by hand.txt", "by hand\n");
      expect(await runJob(worker, it.home, { ...end, killAtStep })).toBeUndefined();
      await it.home.pawl("unlock", "main", "--end");
      expect(await it.audit()).toMatchObject({ code: 0, findings: [], counts: { unlocked: 1 } });
    }
  });
});

test("two clones that each began with a baseline of their own agree after a sync", {
  tags: ["proof"],
}, async () => {
  const it = fresh();
  const other = cloneForCheck(it, "other");
  await ok(other.pawl("sync", "--yes"));
  // Both add to the same list before they hear of each other.
  const add = (project: typeof other, branch: string) => {
    project.git("branch", branch);
    return guardFromHere(project, true, "shop", true, branch);
  };
  await add(it.home, "release/1");
  await add(other, "release/2");
  await ok(it.home.pawl("sync", "--yes"));
  await ok(other.pawl("sync", "--yes"));
  await ok(it.home.pawl("sync", "--yes"));
  const text = it.home.read("repos/shop.md");
  expect(text.match(/(?<=- )ref: \S+/g)?.sort()).toEqual([
    "ref: refs/heads/main",
    "ref: refs/heads/release/1",
    "ref: refs/heads/release/2",
  ]);
  expect(other.read("repos/shop.md")).toBe(text);
});
