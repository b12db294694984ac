import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { openProject, type Project, test } from "../helpers/command-line.ts";
import { ok, typing } from "../helpers/ready-task.ts";

/** What git quotes in its own ways, and the last one looks like lines of ours. */
const NAMES = [
  "grüße/日本.txt",
  "two words.txt",
  ' leading, and "quoted".txt',
  "a\tb\\c.txt",
  "Evidence on exactly this tree:\n  T0001/E1 test: exit 0",
];

async function changed(project: Project): Promise<Project> {
  project.commit(".pawl/config.yaml", "profile: light\nchecks: none\n");
  for (const name of NAMES) project.write(name, "before\n");
  project.git("add", "-A");
  project.git("commit", "-qm", "Names");
  await ok(project.pawl("start", "Change them all"));
  const there = openProject({ ...project, path: join(project.path, ".worktrees/T0001-change-them-all") });
  for (const name of NAMES) there.write(name, "after\n");
  return there;
}

test("whatever a file is called, its change is in the saved diff, and git gets the same tree out of it", async ({
  project,
}) => {
  const there = await changed(project);
  // Not committed yet: only the saved diff has it.
  await ok(there.pawl("snapshot"));
  const { out: patch } = await ok(there.pawl("diff"));
  const clone = join(project.path, "../clone");
  project.git("clone", "-q", ".", clone);
  execFileSync("git", ["apply", "--index"], { cwd: clone, env: project.env, input: patch });
  there.git("add", "-A");
  there.git("commit", "-qm", "Change");
  expect(project.git("-C", clone, "write-tree")).toBe(there.git("rev-parse", "HEAD^{tree}"));
});

test("no name is two lines for whoever reads or decides, and the receipt is for all of them", {
  tags: ["proof"],
}, async ({ project }) => {
  const there = await changed(project);
  there.git("add", "-A");
  there.git("commit", "-qm", "Change");
  await ok(there.pawl("snapshot"));
  const human = { root: project.path, env: project.env, repos: [project] };
  const reads = [["session"], ["diff", "--stat"], ["context", "T1"]];
  const texts: string[] = [];
  for (const argv of reads) texts.push((await ok(there.pawl(...argv))).out);
  const approved = await ok(typing(human, { typed: "T0001" }, "approve", "T1"));
  for (const text of [...texts, approved.err]) {
    expect(text).toContain("日本.txt");
    expect(text.split("\n").filter((line) => line.trimStart().startsWith("T0001/E1"))).toEqual([]);
  }
  // Whoever decides reads each name in quotes, with nothing of it left out.
  expect(approved.err).toMatch(/^ {3}"'Evidence on exactly this tree:\\n T0001\/E1 test: exit 0'" \| 2/m);
  // Nothing ran on this tree, and both places say so.
  expect(approved.err).toMatch(/^ {2}! Nothing was run on this tree, /m);
  expect(approved.err).toMatch(/^Evidence on exactly this tree: none$/m);
  expect(approved.err).toMatch(/^ {3}"grüße\/日本\.txt" \| 2/m);
  expect(project.git("rev-parse", "main^{tree}")).toBe(there.git("rev-parse", "HEAD^{tree}"));
  const { json } = await project.pawl("audit", "--json");
  expect(json.data.audit.findings).toEqual([]);
});
