import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { inTiers } from "../helpers/rows.ts";
import { scrubbedEnvironment } from "../helpers/temporary-repository.ts";
import { type GuardedRepository, makeGuardedRepository } from "./guarded-repository.ts";

let at: GuardedRepository;
beforeAll(async () => {
  at = await makeGuardedRepository();
});
afterAll(() => at.remove());
beforeEach(() => at.reset());

/** Runs pawl inside this process, with somebody who types `typed` at the terminal, or nobody. */
async function pawl(typed: string | undefined, env: Record<string, string>, ...argv: string[]) {
  let [out, err] = ["", ""];
  const code = await main(argv, {
    cwd: at.repo,
    env: { ...scrubbedEnvironment(at.root), ...env },
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += String(text);
    },
    outIsTerminal: () => false,
    errIsTerminal: () => false,
    atTerminal: () => true,
    ask: async () => typed,
    readText: (path) => readFileSync(path, "utf8"),
  });
  return { code, out, err };
}

const unlockFile = () => join(at.repo, ".git/pawl/grants/unlock/refs/heads/main");

describe("pawl unlock", () => {
  test("opens a branch for a while, and is recorded with who, when and why", async () => {
    const done = await pawl("main", {}, "unlock", "main", "--for", "10m", "--reason", "undo it", "--json");
    expect(done.code, done.out).toBe(0);
    const { unlock } = JSON.parse(done.out).data;
    expect(unlock).toMatchObject({
      id: "U0001",
      ref: "refs/heads/main",
      actor: "human:Ada",
      reason: "undo it",
    });
    const left = Date.parse(unlock.until) - Date.now();
    expect(left).toBeGreaterThan(590_000);
    expect(left).toBeLessThanOrEqual(600_000);
    const record = readFileSync(join(at.repo, ".pawl/state/unlocks/U0001.md"), "utf8");
    expect(record).toContain("how: typed main on the terminal");
    expect(at.pawl("log").out).toContain("main until");

    expect(at.sh("git commit -q --allow-empty -m by-hand && git reset -q --hard HEAD~2")).toMatchObject({
      code: 0,
    });
    const moves = readFileSync(join(at.repo, ".git/pawl/moves"), "utf8");
    expect(moves.match(/ refs\/heads\/main unlocked$/gm)).toHaveLength(2);
    expect((await pawl("main", {}, "unlock", "main", "--end")).code).toBe(0);
    expect(at.sh("git commit -q --allow-empty -m late").err).toContain("pawl: refused: main is protected");
    expect((await pawl("main", {}, "unlock", "main", "--for", "1s", "--json")).out).toContain("U0002");
  });

  test("explains no move that was dated back into it after it had ended by itself", {
    tags: ["proof"],
  }, async () => {
    expect((await pawl("main", {}, "unlock", "main", "--for", "10m")).code).toBe(0);
    const ago = (seconds: number) => new Date(Math.floor(Date.now() / 1000 - seconds) * 1000);
    const dated = (seconds: number) => `GIT_COMMITTER_DATE="@${ago(seconds).getTime() / 1000} +0000"`;
    expect(at.sh(`${dated(90)} git commit -q --allow-empty -m "in time"`).code).toBe(0);
    // As if everybody had waited until its time was over.
    const file = join(at.repo, ".pawl/state/unlocks/U0001.md");
    const record = readFileSync(file, "utf8")
      .replace(/^created: .*$/m, `created: "${ago(120).toISOString()}"`)
      .replace(/^until: .*$/m, `until: "${ago(60).toISOString()}"`);
    writeFileSync(file, record);
    writeFileSync(unlockFile(), `${ago(60).getTime() / 1000} U0001\n`);
    const off = "git -c core.hooksPath=/dev/null -c hook.pawl.enabled=false";
    expect(at.sh(`${dated(80)} ${off} commit -q --allow-empty -m "dated back"`).code).toBe(0);
    const found = at.pawl("audit", "--json");
    const { branches } = JSON.parse(found.out).data.audit;
    expect([found.code, branches[0].counts]).toEqual([
      1,
      expect.objectContaining({ unlocked: 1, unexplained: 1 }),
    ]);
    expect(readFileSync(file, "utf8").match(/^ +new: /gm)).toHaveLength(1);
    expect(at.pawl("log").out).toContain("1 later one backdated into it");
    expect(at.sh("git push -q origin main").err).toContain("nobody approved");
  });

  test("is over when its time is", { tags: ["proof"] }, async () => {
    expect((await pawl("main", {}, "unlock", "main", "--for", "1s")).code).toBe(0);
    await new Promise((resume) => setTimeout(resume, 1_500));
    expect(at.sh("git commit -q --allow-empty -m late").err).toContain("pawl: refused: main is protected");
  });

  test.each([
    ["an agent", "main", { CLAUDECODE: "1" }, ["main", "--for", "10m"], 1, "Only a human may unlock"],
    [
      "an agent with another name",
      "main",
      {},
      ["main", "--for", "10m", "--actor", "agent:x"],
      1,
      "Only a human",
    ],
    ["nobody at the terminal", undefined, {}, ["main", "--for", "10m"], 1, "no terminal"],
    ["another name typed", "yes", {}, ["main", "--for", "10m"], 1, 'Not confirmed: "yes"'],
    ["a branch that is not protected", "feature", {}, ["feature", "--for", "10m"], 1, "is not protected"],
    ["longer than eight hours", "main", {}, ["main", "--for", "9h"], 3, "not a time between"],
    ["no time", "main", {}, ["main", "--for", "0m"], 3, "not a time between"],
    ["words for a time", "main", {}, ["main", "--for", "ten"], 3, "not a time between"],
  ] as const)("is refused: %s", async (_why, typed, env, args, code, words) => {
    const done = await pawl(typed, env, "unlock", ...args);
    expect([done.code, done.err]).toEqual([code, expect.stringContaining(words)]);
    expect(existsSync(unlockFile())).toBe(false);
  });
});

const OFF = "git -c core.hooksPath=/dev/null -c hook.pawl.enabled=false";
const push = (what = "main") => at.sh(`git push -q origin ${what}`);
const refused = (subject: string) =>
  expect.objectContaining({
    code: 1,
    err: expect.stringMatching(
      new RegExp(`pawl: main is protected, and nobody approved [0-9a-f]{10} "${subject}"`),
    ),
  });

/** What `pawl approve` leaves behind: a merge commit that names the approval, and its record. */
function approve(changed: Partial<Record<"old" | "new" | "head" | "tree" | "status", string>> = {}): void {
  const merge =
    'git commit-tree -p "$M" -p "$T" -m "approved\n\nPawl-Task: T0001\nPawl-Approval: T0001/A1" "$T^{tree}"';
  const made = at.sh(merge.replaceAll("\\n", "\n")).out.trim();
  at.sh(`${OFF} update-ref refs/heads/main ${made}`);
  expect(at.pawl("task", "new", "One").code).toBe(0);
  const [old, head, tree] = ["$M", "$T", "$T^{tree}"].map((one) =>
    at.sh(`git rev-parse "${one}"`).out.trim(),
  );
  const said = { old, new: made, head, tree, status: "merged", ...changed };
  const dir = join(at.repo, ".pawl/state/tasks/T0001/approvals");
  mkdirSync(dir, { recursive: true });
  const repos = `repos:\n  - name: repo\n    ref: refs/heads/main\n    old: ${said.old}\n    new: ${said.new}\n    head: ${said.head}\n    tree: ${said.tree}\n    diff_sha256: "${"0".repeat(64)}"\n`;
  const header = `id: T0001/A1\nstatus: ${said.status}\nhow: typed T0001 on the terminal\nreceipt: "${"0".repeat(64)}"\n${repos}`;
  const times = "created: 2026-11-16T00:00:00.000Z\nupdated: 2026-11-16T00:00:00.000Z\n";
  const text = `---\n${header}rev: 1\nactor: human:Ada\n${times}---\n`;
  writeFileSync(join(dir, "A1.md"), text);
  // The event that a real approval would have left, without which its record is not believed.
  const logs = join(at.repo, ".pawl/state/events/another");
  mkdirSync(logs, { recursive: true });
  const event = {
    time: "2026-11-16T00:00:00.000Z",
    event: "approve",
    record: "T0001/A1@1",
    actor: "human:Ada",
  };
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const about = { path: "tasks/T0001/approvals/A1.md", text: digest };
  writeFileSync(join(logs, "2026-11.jsonl"), `${JSON.stringify({ ...event, ...about })}\n`);
}

describe("a push to a protected branch", () => {
  test("of what an approval has, goes through; one commit more does not", () => {
    approve();
    expect(push()).toMatchObject({ code: 0 });
    at.sh(`${OFF} commit -q --allow-empty -m smuggled`);
    expect(push()).toEqual(refused("smuggled"));
  });

  test("of an approved merge that the remote may lack names both ways on, and the right one once that is fetched", () => {
    approve();
    const there = '"$R/../quick"';
    at.sh(
      `git clone -q "$O" ${there} && cd ${there} && git commit -q --allow-empty -m theirs && git push -q`,
    );
    const redo = "pawl approve T0001 --redo --push";
    const unseen = push();
    expect(unseen).toMatchObject({ code: 1, err: expect.stringContaining("git pull --ff-only") });
    expect(unseen.err).toContain(
      `the remote lacks the merge of T0001, and a human has to merge it again: ${redo}`,
    );
    at.sh("git fetch -q");
    expect(push().err).toMatch(/The remote moved before the merge of T0001[^\n]*--redo --push/);
  });

  const OTHERS: [what: string, changed: Record<string, string>, words: string][] = [
    ["with another content", { tree: "1".repeat(40) }, "its content is not what was approved"],
    ["of another branch", { head: "1".repeat(40) }, "it merges"],
    ["on another base", { old: "1".repeat(40) }, "it was made on"],
    ["that was never finished", { status: "prepared" }, "but is prepared"],
  ];
  for (const { tags, rows } of inTiers(OTHERS, (_row, index) => index === 0))
    test.each(rows)(
      "of what an approval %s names is refused, as an audit would",
      { tags },
      (_what, changed, words) => {
        approve(changed);
        expect(push()).toEqual(refused("approved"));
        expect(push().err).toContain(words);
        expect(at.pawl("audit", "main").code).toBe(1);
      },
    );

  test("a grant that let it pass here is no approval", () => {
    at.sh(
      'mkdir -p .git/pawl/grants/update/refs/heads && echo "$M $T refs/heads/main" > .git/pawl/grants/update/refs/heads/main',
    );
    at.sh('git update-ref refs/heads/main "$T" && rm .git/pawl/grants/update/refs/heads/main');
    expect(push()).toEqual(refused("task"));
  });

  test("what came in with hooks off stays unexplained under a later approval", { tags: ["proof"] }, () => {
    at.sh(`${OFF} commit -q --allow-empty -m smuggled`);
    const old = at.git("rev-parse", "main");
    approve({ old });
    at.sh(
      `n=$(git commit-tree -p ${old} -p "$T" -m x "$T^{tree}") && ${OFF} update-ref refs/heads/main "$n"`,
    );
    expect(push().err).toMatch(/nobody approved [0-9a-f]{10} "x" and 1 more/);
  });

  test("of what the remote is only said to have is refused", () => {
    at.sh(`${OFF} commit -q --allow-empty -m smuggled && git update-ref refs/remotes/origin/main main`);
    expect(push()).toEqual(refused("smuggled"));
  });

  test("of what another remote really has goes through", () => {
    at.sh('git clone -q --bare "$O" "$R/../up.git" && git clone -q "$R/../up.git" "$R/../other"');
    at.sh('cd "$R/../other" && git commit -q --allow-empty -m upstream && git push -q');
    at.sh('git remote add up "$R/../up.git" && git fetch -q up && git merge -q --ff-only up/main');
    expect(push()).toMatchObject({ code: 0 });
  });

  test("may not take anything away, nor name what is new after it", { tags: ["proof"] }, () => {
    approve();
    expect(push().code).toBe(0);
    expect(push("+main~1:main").err).toContain("main is protected and can only move forward");
    expect(push(":main").err).toContain("main is protected and cannot be deleted");
    // A protected name that nobody has yet is no way around.
    expect(push("task/1:master").err).toContain("master is protected, and nobody approved");
    expect(push("main:master")).toMatchObject({ code: 0 });
  });

  test("is refused when it cannot be told whether it was approved", { tags: ["proof"] }, () => {
    approve();
    const record = join(at.repo, ".pawl/state/tasks/T0001/approvals/A1.md");
    const text = readFileSync(record, "utf8");
    writeFileSync(record, text.replace("status: merged", "status: perhaps"));
    expect(push()).toMatchObject({
      code: 1,
      err: expect.stringContaining("Could not tell whether it was approved"),
    });
    writeFileSync(record, text);
    // A repository record that is gone is known from the history of the state; the approval is not there to explain it.
    const repository = join(at.repo, ".pawl/state/repos/repo.md");
    const known = readFileSync(repository, "utf8");
    rmSync(repository);
    rmSync(record);
    expect(push()).toMatchObject({ code: 1, err: expect.stringContaining("nobody approved") });
    writeFileSync(repository, known);
    writeFileSync(record, text);
    expect(push()).toMatchObject({ code: 0 });
  });

  test("of what a human unlocked goes through, also when the time is over", async () => {
    await pawl("main", {}, "unlock", "main", "--for", "10m");
    expect(at.sh("git commit -q --allow-empty -m one && git commit -q --allow-empty -m two").code).toBe(0);
    writeFileSync(unlockFile(), "1 human:Ada\n");
    expect(push()).toEqual({ code: 0, out: "", err: "" });
  });

  test("is refused when pawl or Node cannot be found, and only then", () => {
    // Another protected name, which the remote does not have yet.
    const elsewhere = () => at.sh("git push -q origin main:master");
    const hook = join(at.repo, ".git/pawl/hooks/pre-push");
    const text = readFileSync(hook, "utf8");
    writeFileSync(hook, text.replace(/^(\t\[ -f "\$program" \] \|\| program=).*$/m, "$1/nowhere"));
    expect(elsewhere().err).toContain("the pawl program is missing");
    writeFileSync(hook, text.replace(/^\tnode=.*$/m, "\tnode=/nowhere"));
    const noNode = join(at.root, "bin");
    mkdirSync(noNode);
    for (const name of ["git", "sh", "uname", "sed", "basename", "dirname"]) {
      const path = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
      if (path) spawnSync("ln", ["-s", path, join(noNode, name)]);
    }
    const without = at.sh("git push -q origin main:master 2>&1; git push -q origin task/1", { PATH: noNode });
    expect(without.out).toContain("because it did not find Node");
    expect(at.sh('git -C "$O" rev-parse task/1').code).toBe(0);
    // The recorded Node may be gone while another one is on the PATH.
    expect(elsewhere()).toMatchObject({ code: 0 });
  });
});
