import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openProject, test } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

test("what ends leaves nothing in git's own files: settings of its branch, names of folders that are gone", {
  tags: ["proof"],
}, async ({ project }) => {
  const textOf = (name: string) => readFileSync(join(project.path, ".git", name), "utf8");
  const remote = join(project.path, "..", "remote.git");
  project.git("init", "-q", "--bare", remote);
  project.git("remote", "add", "origin", remote);
  await ok(project.pawl("install", "--yes", "--profile", "hooks"));
  const config = textOf("config");
  await ok(project.pawl("start", "Fix the typo"));
  const there = openProject({ ...project, path: join(project.path, ".worktrees/T0001-fix-the-typo") });
  there.commit("typo.txt", "fixed\n");
  there.git("push", "-q", "-u", "origin", "HEAD");
  expect(textOf("config")).toContain("[branch ");
  await ok(project.pawl("finish", "T1", "--remove", "--reason", "aside"));
  expect(textOf("config")).toBe(config);
  expect(textOf("info/exclude")).toContain("/.worktrees/");
  await ok(project.pawl("uninstall", "--yes"));
  expect(textOf("info/exclude")).not.toContain("/.worktrees/");
  expect(textOf("info/exclude")).toContain("/.pawl/state/");
});

test("a title is one line, a record that cannot be read is something to do, a worktree that is gone is told", async ({
  project,
}) => {
  await ok(project.pawl("task", "new", "Two\n  lines"));
  expect((await project.pawl("task", "show", "T1", "--json")).json.data.task.title).toBe("Two lines");
  await ok(project.pawl("start", "T1"));
  rmSync(join(project.path, ".worktrees/T0001-two-lines"), { recursive: true });
  expect((await project.pawl("session", "T1")).err).toContain("pawl start T0001 --claim");
  writeFileSync(join(stateOf(project), "tasks/T0001/task.md"), "---\nid: T0001\n");
  for (const command of [["status"], ["task", "list"]]) {
    const { json } = await project.pawl(...command, "--json");
    expect(json.warnings.join(" ")).toMatch(/closed by a line that is exactly `---`\. The file/);
  }
  expect((await project.pawl("task", "list", "--json")).json.next.command).toBe("pawl doctor");
  const doctor = await project.pawl("doctor", "--json");
  expect(doctor.code).toBe(1);
  expect(doctor.json.data.doctor.diagnoses).toContainEqual(
    expect.objectContaining({ code: "record_altered", level: "problem", where: "tasks/T0001/task.md" }),
  );
});
