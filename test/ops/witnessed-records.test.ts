import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { gitIn, ok, typing } from "../helpers/ready-task.ts";
import { askStateGit, stateOf } from "../helpers/temporary-repository.ts";

const AGENT = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
const worktree = (project: Project) => join(project.path, ".worktrees", "T0001-one");
const file = (project: Project, path: string) => join(stateOf(project), "tasks/T0001", path);
const edit = (project: Project, path: string, from: string | RegExp, to: string) => {
  const text = readFileSync(file(project, path), "utf8");
  expect(text).toMatch(from);
  writeFileSync(file(project, path), text.replace(from, to));
};

/** A task whose check fails, and for which nothing else is missing. */
async function failing(project: Project): Promise<void> {
  await ok(project.pawl("task", "new", "One", "--profile", "light"));
  await ok(project.pawl("start", "T1"));
  writeFileSync(join(worktree(project), "work"), "x\n");
  gitIn(project, worktree(project), "add", "-A");
  gitIn(project, worktree(project), "commit", "-q", "-m", "Work");
  await project.pawl("verify", "T1", "--", "test", "-f", "done");
  await ok(project.pawl("handoff", "T1", "--what", "Did it", "--changed", "work", "--next", "Approve"));
  await ok(project.pawl("snapshot", "T1"));
}

async function reasons(project: Project): Promise<string[]> {
  const { json } = await project.pawl("check", "T1", "--stage", "close", "--json");
  return json.data.check.reasons.map((one: { code: string; record: string }) => `${one.code} ${one.record}`);
}

const approve = (project: Project) =>
  typing({ root: project.path, env: project.env, repos: [project] }, { typed: "T0001" }, "approve", "T1");

describe("a record that pawl did not write", () => {
  test("counts for nothing and is named: at check, approve, audit and doctor (H3)", async ({ project }) => {
    await failing(project);
    expect(await reasons(project)).toEqual(["check_failed T0001/E1"]);
    const made = readFileSync(file(project, "evidence/E1.md"), "utf8")
      .replaceAll("T0001/E1", "T0001/E2")
      .replace(/^exit_code: 1$/m, "exit_code: 0");
    writeFileSync(file(project, "evidence/E2.md"), made);
    expect(await reasons(project)).toEqual(["record_unexplained T0001/E2", "check_failed T0001/E1"]);
    const refused = await approve(project);
    expect(refused.json.error.code).toBe("record_unexplained");
    expect(refused.json.error.message).toContain("T0001/E2 was not written by pawl");
    const audit = await project.pawl("audit", "--json");
    expect([audit.code, JSON.stringify(audit.json.data.audit.findings)]).toEqual([
      1,
      expect.stringContaining("evidence/E2.md"),
    ]);
    const doctor = await project.pawl("doctor", "--json");
    expect(doctor.json.data.doctor.diagnoses).toContainEqual(
      expect.objectContaining({ code: "record_unexplained", where: "tasks/T0001/evidence/E2.md" }),
    );
    await project.pawlIn(project.path, AGENT, "doctor", "--fix");
    expect(await reasons(project), "an agent moves nothing away").toHaveLength(2);
    await project.pawl("doctor", "--fix");
    expect(await reasons(project)).toEqual(["check_failed T0001/E1"]);
    expect(readdirSync(join(stateOf(project), ".local/rescued")).join()).toMatch(/E2\.md/);
  });

  test("or that was changed since does not count either, and comes back as it was", async ({ project }) => {
    await failing(project);
    edit(project, "evidence/E1.md", /^exit_code: 1$/m, "exit_code: 0");
    expect(await reasons(project)).toEqual(["record_altered T0001/E1", "check_missing T0001"]);
    await project.pawl("doctor", "--fix");
    expect(await reasons(project)).toEqual(["check_failed T0001/E1"]);
  });

  test("comes back as pawl wrote it, also if the history has what was made of it by hand", async ({
    project,
  }) => {
    await failing(project);
    edit(project, "evidence/E1.md", /^exit_code: 1$/m, "exit_code: 0");
    await ok(project.pawl("task", "new", "Two"));
    expect(askStateGit(project, "show", "HEAD:tasks/T0001/evidence/E1.md")).toContain("exit_code: 0");
    await project.pawl("doctor", "--fix");
    expect(project.read("tasks/T0001/evidence/E1.md")).toContain("exit_code: 1");
  });

  test("is not laundered by a command that writes it again", async ({ project }) => {
    await failing(project);
    await ok(project.pawl("task", "update", "T1", "--profile", "strict"));
    edit(project, "task.md", /^profile: strict$/m, "profile: light");
    await ok(project.pawlIn(project.path, AGENT, "task", "update", "T1", "--label", "x"));
    expect(await reasons(project)).toContain("record_altered T0001");
  });
});

describe("a person's own edit", () => {
  test("is adopted in their name, and by nobody else", async ({ project }) => {
    await failing(project);
    await ok(project.pawl("finding", "add", "Odd", "--severity", "low", "--kind", "branch", "--task", "T1"));
    edit(project, "findings/F1.md", "Odd", "Very odd");
    writeFileSync(file(project, "task.md"), `${project.read("tasks/T0001/task.md")}\n## Notes\n\nmine\n`);
    expect(await reasons(project)).toEqual(
      expect.arrayContaining(["record_altered T0001", "record_altered T0001/F1"]),
    );
    const refused = await project.pawlIn(project.path, AGENT, "task", "edit", "T1", "--adopt", "--json");
    expect(refused.json.error.code).toBe("human_only");
    const { json } = await project.pawl("task", "edit", "T1", "--adopt", "--json");
    expect(json.data.adopted).toEqual(["T0001", "T0001/F1"]);
    expect((await reasons(project)).join()).not.toMatch(/record_/);
    const log = await project.pawl("log", "--task", "T1", "--json");
    expect(JSON.stringify(log.json.data)).toMatch(/task\.edit.*human:Ada|human:Ada.*task\.edit/);
    expect(project.read("tasks/T0001/findings/F1.md")).toContain("Very odd");
  });
});

describe("a record that is gone", () => {
  test("is reported by check and doctor, and restored from the history (M4)", async ({ project }) => {
    await failing(project);
    await ok(project.pawl("task", "new", "Two"));
    const before = project.read("tasks/T0001/runs/R1/my project.patch");
    rmSync(join(stateOf(project), "tasks/T0001"), { recursive: true });
    const doctor = await project.pawl("doctor", "--json");
    const codes = doctor.json.data.doctor.diagnoses.map((one: { code: string; where: string }) => one.where);
    expect(codes).toEqual(expect.arrayContaining(["tasks/T0001/task.md", "tasks/T0001/evidence/E1.md"]));
    await ok(project.pawl("task", "new", "Three"));
    await project.pawl("doctor", "--fix");
    expect(await reasons(project)).toEqual(["check_failed T0001/E1"]);
    expect(project.read("tasks/T0001/runs/R1/my project.patch")).toBe(before);
  });
});

describe("a handoff's validation", () => {
  test("names evidence, or is shown as a claim", async ({ project }) => {
    await failing(project);
    const { json } = await project.pawl(
      ...["handoff", "T1", "--what", "Tried", "--next", "Look"],
      ...["--validation", "E1: the file is missing", "--validation", "all 12 tests passed"],
      "--json",
    );
    expect(json.warnings).toEqual([expect.stringMatching(/"all 12 tests passed" .* shown as a claim/)]);
    const packet = await project.pawl("context", "T1");
    expect(packet.out).toMatch(/T0001\/E1, exit 1: E1: the file is missing; claimed: all 12 tests passed/);
  });
});

test("whoever forges a record together with its event gets past all of this: only recheck stops that", {
  tags: ["proof"],
}, async ({ project }) => {
  project.commit(".pawl/config.yaml", "recheck: true\nchecks:\n  test: test -f done\n");
  await failing(project);
  await project.pawl("verify", "T1");
  const path = "tasks/T0001/evidence/E3.md";
  const text = readFileSync(file(project, "evidence/E2.md"), "utf8")
    .replaceAll("T0001/E2", "T0001/E3")
    .replace(/^exit_code: 1$/m, "exit_code: 0");
  mkdirSync(dirname(join(stateOf(project), path)), { recursive: true });
  writeFileSync(join(stateOf(project), path), text);
  const { createHash } = await import("node:crypto");
  const [clone = ""] = readdirSync(join(stateOf(project), "events"));
  const [month = ""] = readdirSync(join(stateOf(project), "events", clone));
  const forged = {
    ...{ time: new Date().toISOString(), event: "verify", record: "T0001/E3@1", task: "T0001" },
    ...{ about: "check: exit 0", actor: "human:Ada", path },
    text: createHash("sha256").update(text).digest("hex").slice(0, 16),
  };
  appendFileSync(join(stateOf(project), "events", clone, month), `\n${JSON.stringify(forged)}\n`);
  expect(await reasons(project)).toEqual([]);
  const { code, json } = await approve(project);
  expect([code, json.error.code]).toEqual([1, "check_failed"]);
});

test("a filter that no commit asks for puts no other files before the checks that run again", {
  tags: ["proof"],
}, async ({ project }) => {
  project.commit("check.sh", "exit 1\n");
  // What the commit itself asks for, as for Git LFS, may differ.
  project.commit(".gitattributes", "asset filter=own\n");
  project.commit("asset", "a pointer\n");
  project.commit(
    ".pawl/config.yaml",
    "recheck: true\nprofile: light\nchecks:\n  test: sh check.sh || test -f ignored\n",
  );
  project.commit(".gitignore", ".pawl/state\n.worktrees\nignored\n");
  await project.pawl("start", "One more", "--profile", "light");
  const [worktree = ""] = readdirSync(join(project.path, ".worktrees"));
  const at = join(project.path, ".worktrees", worktree);
  writeFileSync(join(at, "done"), "");
  writeFileSync(join(at, "ignored"), "");
  project.git("-C", at, "add", "done");
  project.git("-C", at, "commit", "-q", "-m", "done");
  expect((await approve(project)).json.error.code).toBe("check_failed");
  project.git("config", "filter.own.smudge", "echo exit 0");
  mkdirSync(join(project.path, ".git/info"), { recursive: true });
  writeFileSync(join(project.path, ".git/info/attributes"), "check.sh filter=own\n");
  const { code, json } = await approve(project);
  expect([code, json.error.code, json.error.details.paths]).toEqual([1, "files_filtered", ["check.sh"]]);
});
