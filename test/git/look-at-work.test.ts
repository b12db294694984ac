import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { discover, type Place } from "../../src/git/discover.ts";
import { lookAtWork } from "../../src/git/look-at-work.ts";
import { type Project, test } from "../helpers/command-line.ts";

const look = (project: Project, base = "main") =>
  lookAtWork(discover(project.path) as Place, base, project.env);

/** A branch with one commit of its own; what is remembered has a place. */
function branchOff(project: Project): void {
  mkdirSync(join(project.path, ".git", "pawl"), { recursive: true });
  project.git("switch", "-q", "-c", "work");
  project.write("src/a b.ts", "one\n");
  project.git("add", "-A");
  project.git("commit", "-q", "-m", "Work");
}

test("what was committed, staged, changed and new is told, each time as it is", async ({ project }) => {
  branchOff(project);
  expect(await look(project)).toEqual({ committed: ["src/a b.ts"], uncommitted: [] });
  expect(await look(project)).toEqual({ committed: ["src/a b.ts"], uncommitted: [] });
  project.write("src/a b.ts", "two\n");
  project.write("staged.ts", "");
  project.git("add", "staged.ts");
  project.write("new.ts", "");
  expect(await look(project)).toEqual({
    committed: ["src/a b.ts"],
    uncommitted: ["src/a b.ts", "staged.ts", "new.ts"],
  });
});

test("a commit taken back softly is staged work, though files and index agree", async ({ project }) => {
  branchOff(project);
  await look(project);
  project.git("reset", "-q", "--soft", "HEAD^");
  expect(await look(project)).toEqual({ committed: [], uncommitted: ["src/a b.ts"] });
});

test("a base that moved is compared from where the branch left it", async ({ project }) => {
  branchOff(project);
  await look(project);
  project.git("switch", "-q", "main");
  project.write("theirs.ts", "");
  project.git("add", "-A");
  project.git("commit", "-q", "-m", "Theirs");
  project.git("switch", "-q", "work");
  expect((await look(project)).committed).toEqual(["src/a b.ts"]);
});

test("without a base, or with one that shares nothing, only what is not committed is told", async ({
  project,
}) => {
  branchOff(project);
  project.write("new.ts", "");
  expect(await lookAtWork(discover(project.path) as Place, undefined, project.env)).toEqual({
    committed: [],
    uncommitted: ["new.ts"],
  });
  project.git("switch", "-q", "--orphan", "other");
  project.git("commit", "-q", "--allow-empty", "-m", "Other");
  expect((await look(project)).committed).toEqual([]);
});
