import { expect } from "vitest";
import { test } from "../helpers/command-line.ts";
import { makeRun } from "../helpers/hand-made-run.ts";

test("committed, uncommitted and untracked work is saved as a commit and as a patch", async ({ project }) => {
  const work = await makeRun(project);
  work.write("a.txt", "committed\n");
  work.git("add", "-A");
  work.git("commit", "-q", "-m", "A");
  work.write("README.md", "# A changed project\n");
  work.write("new.txt", "untracked\n");
  const taken = await project.pawl("snapshot", "T1", "--json");
  console.log(JSON.stringify(taken.json, null, 1), taken.err);
  const again = await project.pawl("snapshot", "T1");
  console.log(again.out, again.err);
  const shown = await project.pawl("diff", "T1");
  console.log(shown.out, shown.err);
  console.log((await project.pawl("diff", "T1", "--stat")).out);
  console.log(project.read("tasks/T0001/runs/R1/run.md"));
  expect(taken.code).toBe(0);
});
