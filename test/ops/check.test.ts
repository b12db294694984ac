import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { typing } from "../helpers/ready-task.ts";
import { inTiers } from "../helpers/rows.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

const worktree = (project: Project) => join(project.path, ".worktrees", "T0001-one");

function commitThere(project: Project, path: string, text: string): void {
  const file = join(worktree(project), path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  for (const args of [
    ["add", "-A"],
    ["commit", "-q", "-m", `Change ${path}`],
  ])
    execFileSync("git", args, { cwd: worktree(project), env: project.env });
}

const there = (project: Project, ...argv: string[]) => project.pawlIn(worktree(project), {}, ...argv);

/** A light task that lacks nothing for the close stage. */
async function complete(project: Project, config = "checks:\n  test: test -f done\n"): Promise<void> {
  if (config) project.commit(".pawl/config.yaml", config);
  await project.pawl("task", "new", "One", "--profile", "light");
  await project.pawl("start", "T1");
  commitThere(project, "done", "yes\n");
  for (const argv of [
    config.includes("checks") ? ["verify"] : ["verify", "--", "test", "-d", "."],
    ["handoff", "--what", "Did it", "--changed", "done", "--next", "Approve"],
    ["snapshot"],
  ]) {
    const { code, err } = await there(project, ...argv);
    expect(code, `${argv}: ${err}`).toBe(0);
  }
}

async function close(project: Project, stage = "close") {
  const { code, json } = await project.pawl("check", "T1", "--stage", stage, "--json");
  const reasons: { code: string }[] = json.data?.check.reasons ?? [];
  return { code, codes: reasons.map((one) => one.code), error: json.error?.code, check: json.data?.check };
}

test("a light task needs its checks on the final tree, a handoff and a saved diff, and then gets a receipt", async ({
  project,
}) => {
  await complete(project);
  const { code, codes, check } = await close(project);
  expect([code, codes]).toEqual([0, []]);
  const receipt = project.read("tasks/T0001/receipt.md");
  expect(receipt).toContain(check.receipt);
  expect(receipt).toContain(check.repos[0].head);
  await close(project);
  expect(project.read("tasks/T0001/receipt.md"), "a second pass changes nothing").toBe(receipt);
});

const DAMAGES: [how: string, damage: (text: string) => string][] = [
  ["emptied", () => ""],
  ["cut", (text) => text.slice(0, 120)],
  ["of another head", (text) => text.replace(/head: "?\w{40}"?/, `head: "${"0".repeat(40)}"`)],
  ["of no digest", (text) => text.replace(/digest: .*/, "digest: none")],
];
for (const { tags, rows } of inTiers(DAMAGES, ([how]) => how === "of another head"))
  test.for(rows)(
    "a receipt that was %s is written again, and opens nothing until then",
    { tags },
    async ([, damage], { project }) => {
      await complete(project);
      const { check } = await close(project);
      const file = join(stateOf(project), "tasks/T0001/receipt.md");
      const whole = readFileSync(file, "utf8");
      const damaged = damage(whole);
      expect(damaged).not.toBe(whole);
      writeFileSync(file, damaged);
      const human = { root: project.path, env: project.env, repos: [project] };
      const dry = await typing(human, { typed: "T0001" }, "approve", "T1", "--dry-run");
      expect([dry.code, ["no_receipt", "stale_receipt"].includes(dry.json.error.code)]).toEqual([1, true]);
      expect(await close(project)).toMatchObject({ code: 0, codes: [], check: { receipt: check.receipt } });
      expect(project.read("tasks/T0001/receipt.md").replaceAll('"', "")).toContain(
        `\ndigest: ${check.receipt}\n`,
      );
      expect((await typing(human, { typed: "T0001" }, "approve", "T1")).code).toBe(0);
    },
  );

describe("anything that the receipt rests on makes another one", () => {
  test.for([
    ["a new finding", ["finding", "add", "Wrong", "--severity", "low", "--kind", "branch"]],
    ["new evidence", ["verify"]],
    ["a review", ["review", "record", "--kind", "branch", "--verdict", "pass"]],
    ["another plan", ["task", "update", "--plan", "done"]],
    ["another profile", ["task", "update", "--profile", "standard"]],
  ] as const)("%s", async ([, argv], { project }) => {
    await complete(project);
    const before = (await close(project)).check.receipt;
    const { code, err } = await there(project, ...argv);
    expect(code, err).toBe(0);
    const after = await close(project);
    expect(after.check.receipt).not.toBe(before);
  });

  test("a commit voids the checks, the saved diff and the receipt", async ({ project }) => {
    await complete(project);
    await close(project);
    commitThere(project, "more", "x\n");
    expect((await close(project)).codes).toEqual(["check_stale", "snapshot_missing"]);
  });

  test("a moved base, and one that conflicts", async ({ project }) => {
    await complete(project);
    project.commit("other", "x\n");
    expect((await close(project)).codes).toEqual(["base_moved"]);
    project.commit("done", "no\n");
    expect((await close(project)).codes).toEqual(["unmergeable", "base_moved"]);
  });

  test("changes that nobody committed, in the worktree and where the base is checked out", async ({
    project,
  }) => {
    await complete(project);
    writeFileSync(join(worktree(project), "new file"), "x");
    project.write("README.md", "# Mine\n");
    expect((await close(project)).codes).toEqual(["dirty_worktree", "target_dirty"]);
    rmSync(join(worktree(project), "new file"));
    project.git("add", "README.md");
    expect((await close(project)).codes).toEqual(["target_dirty"]);
    project.git("checkout", "-q", "HEAD", "README.md");
    project.write("untracked", "is nobody's business\n");
    expect((await close(project)).codes).toEqual([]);
  });
});

describe("the policy is the one that is committed on the base", () => {
  test("a check that the branch takes away or waters down is still required", async ({ project }) => {
    await complete(project);
    commitThere(project, ".pawl/config.yaml", "profile: light\n");
    await there(project, "verify", "--", "test", "-d", ".");
    await there(project, "snapshot");
    expect((await close(project)).codes).toEqual(["check_stale"]);
    commitThere(project, ".pawl/config.yaml", "checks:\n  test: 'true'\n");
    rmSync(join(worktree(project), "done"));
    commitThere(project, "more.txt", "The base's check cannot pass without the file.\n");
    await there(project, "verify");
    await there(project, "snapshot");
    expect((await close(project)).codes).toEqual(["check_failed"]);
  });

  test("a check that the branch adds is required as well", { tags: ["proof"] }, async ({ project }) => {
    await complete(project);
    commitThere(project, ".pawl/config.yaml", "checks:\n  test: test -f done\n  lint: 'true'\n");
    await there(project, "verify", "--check", "test");
    await there(project, "snapshot");
    expect((await close(project)).codes).toEqual(["check_missing"]);
    await there(project, "verify");
    expect((await close(project)).codes).toEqual([]);
  });

  test("work on a protected branch is reported", async ({ project }) => {
    await complete(project, "protected:\n  - task/*\nchecks:\n  test: test -f done\n");
    expect((await close(project)).codes).toContain("on_protected_branch");
  });
});

describe("what cannot be read is never a pass", () => {
  const broken: [string, (project: Project) => void][] = [
    ["a finding", (project) => breakRecord(project, "findings/F1.md")],
    ["evidence", (project) => breakRecord(project, "evidence/E1.md")],
    ["a handoff", (project) => breakRecord(project, "handoffs/H1.md")],
    ["a review", (project) => breakRecord(project, "reviews/V1.md")],
    ["the run", (project) => breakRecord(project, "runs/R1/run.md")],
    ["the task", (project) => breakRecord(project, "task.md")],
    [
      "the branch's policy",
      (project) => writeFileSync(join(worktree(project), ".pawl/config.yaml"), "checks: [\n"),
    ],
    ["the base's policy", (project) => project.commit(".pawl/config.yaml", "chekcs:\n  a: b\n")],
    ["the branch's commit", (project) => removeObject(project, "task/T0001-one")],
  ];

  for (const { tags, rows } of inTiers(broken, (_row, index) => index % 3 === 0))
    test.for(rows)("%s", { tags }, async ([, spoil], { project }) => {
      await complete(project);
      expect((await close(project)).code).toBe(0);
      spoil(project);
      const { code, error } = await close(project);
      expect([code, error === undefined]).toEqual([2, false]);
    });
});

function breakRecord(project: Project, path: string): void {
  const file = join(stateOf(project), "tasks/T0001", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "---\nno: record\n---\n");
}

function removeObject(project: Project, name: string): void {
  const id = project.git("rev-parse", name);
  const file = join(project.path, ".git/objects", id.slice(0, 2), id.slice(2));
  chmodSync(file, 0o644);
  rmSync(file);
  rmSync(join(project.path, ".git/pawl/answers.cache"));
}

test("a repository that this machine does not know is not passed over", async ({ project }) => {
  await complete(project);
  const file = join(stateOf(project), "tasks/T0001/runs/R1/run.md");
  writeFileSync(file, readFileSync(file, "utf8").replace(/- name: .*/, "- name: elsewhere"));
  const { code, error } = await close(project);
  expect([code, error]).toEqual([4, "no_repository"]);
});

test("plan and review stages write no receipt, and a state that is not there stays so", async ({
  project,
}) => {
  expect((await project.pawl("check", "T1", "--stage", "plan", "--json")).code).toBe(4);
  expect(existsSync(join(project.path, ".pawl"))).toBe(false);
  await complete(project);
  expect([(await close(project, "plan")).code, (await close(project, "review")).code]).toEqual([0, 0]);
  expect(readdirSync(join(stateOf(project), "tasks/T0001"))).not.toContain("receipt.md");
});

test("a dry run of a check that passes says that it would write the receipt", async ({ project }) => {
  await complete(project);
  const { json } = await project.pawl("check", "T1", "--stage", "close", "--dry-run", "--json");
  expect(json.planned).toEqual([{ do: "write", path: "tasks/T0001/receipt.md" }]);
  expect(readdirSync(join(stateOf(project), "tasks/T0001"))).not.toContain("receipt.md");
});
