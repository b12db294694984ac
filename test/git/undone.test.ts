import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { askUndone } from "../../src/git/ask-branches.ts";
import { type Project, test } from "../helpers/command-line.ts";

/** A commit of these files on top of what is checked out, without writing one of them. */
function commitFiles(project: Project, paths: readonly string[], text: string): string {
  const git = (input: string, ...args: string[]) =>
    execFileSync("git", args, { cwd: project.path, env: project.env, input, encoding: "utf8" }).trim();
  const blob = git(text, "hash-object", "-w", "--stdin");
  git(paths.map((path) => `100644 ${blob}\t${path}\n`).join(""), "update-index", "--index-info");
  project.git("commit", "-q", "-m", text);
  return project.git("rev-parse", "HEAD").trim();
}

const undone = (project: Project, change: { from: string; to: string; tip: string }) =>
  askUndone(join(project.path, ".git"), change, project.env);

test("a fix is undone when all its files are as they were, whatever else has changed", async ({
  project,
}) => {
  const from = commitFiles(project, ["a b.ts", "c.ts"], "as it was");
  const to = commitFiles(project, ["a b.ts", "c.ts"], "fixed");
  const half = commitFiles(project, ["a b.ts"], "as it was");
  commitFiles(project, ["c.ts"], "as it was");
  const tip = commitFiles(project, ["other.ts"], "something else");
  expect(await undone(project, { from, to, tip: half })).toBe(false);
  expect(await undone(project, { from, to, tip })).toBe(true);
  expect(await undone(project, { from, to: from, tip })).toBe(false);
});

test("a fix of more files than one command line can name is judged all the same", async ({ project }) => {
  const deep = "a-folder-with-a-long-name/".repeat(8);
  const many = Array.from({ length: 12_000 }, (_, at) => `${deep}${at}.ts`);
  const from = commitFiles(project, many, "as it was");
  const to = commitFiles(project, many, "fixed");
  const tip = commitFiles(project, many, "as it was");
  expect(await undone(project, { from, to, tip })).toBe(true);
});
