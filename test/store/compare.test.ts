import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { compareStates } from "../../src/store/state/compare.ts";
import { test } from "../helpers/command-line.ts";

const PATH = "notes/N0001.md";

test("after merges that crossed, a record is taken from the other side only if every base has ours", async ({
  project,
}) => {
  const say = (text: string) => {
    writeFileSync(join(project.path, "N0001.md"), text);
    const blob = project.git("hash-object", "-w", "N0001.md");
    project.git("read-tree", "--empty");
    project.git("update-index", "--add", "--cacheinfo", `100644,${blob},${PATH}`);
    return project.git("write-tree");
  };
  const commit = (tree: string, ...parents: string[]) =>
    project.git("commit-tree", tree, ...parents.flatMap((one) => ["-p", one]), "-m", "x");
  const [old, ours, theirs] = [say("old"), say("ours"), say("theirs")];
  const root = commit(old);
  const [one, other] = [commit(ours, root), commit(theirs, root)];
  const crossed = { ours: commit(ours, one, other), theirs: commit(theirs, other, one) };
  const repo = { state: project.path, gitDir: join(project.path, ".git"), env: project.env };

  const { incoming, diverged } = await compareStates(repo, crossed);
  expect(incoming).toEqual([]);
  expect(diverged.map(({ path }) => path)).toEqual([PATH]);
  // Where only they went on from what both had, it is taken.
  expect((await compareStates(repo, { ours: one, theirs: commit(theirs, one) })).incoming).toEqual([PATH]);
});
