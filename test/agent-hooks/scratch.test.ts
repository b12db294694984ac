import { join } from "node:path";
import { expect } from "vitest";
import { askIsScratch } from "../../src/agent-hooks/ask.ts";
import { type Project, test } from "../helpers/command-line.ts";

const may = (project: Project, ...paths: string[]) =>
  Promise.all(paths.map((path) => askIsScratch(join(project.path, path), project.path, project.env)));

test("without a word in the policy, what git ignores may be written", async ({ project }) => {
  project.commit(".gitignore", "build/\n");
  expect(await may(project, "build/x", "notes/x.md", "README.md")).toEqual([true, false, false]);
});

test("places that the committed policy names, and only those, for what git does not track", async ({
  project,
}) => {
  project.write("notes/kept.md", "tracked\n");
  project.write(".gitignore", "build/\n");
  project.commit(".pawl/config.yaml", "scratch: [notes/**, tmp/]\n");
  expect(await may(project, "notes/x.md", "notes/deep/y.md", "tmp/z")).toEqual([true, true, true]);
  const others = await may(project, "notes/kept.md", "build/x", "x.md", "other/notes/x");
  expect(others).toEqual([false, false, false, false]);
  // A copy that nobody committed says nothing, an empty list allows nothing, and neither does one that is broken.
  project.write(".pawl/config.yaml", "scratch: ['**']\n");
  expect(await may(project, "x.md")).toEqual([false]);
  for (const policy of ["scratch: []\n", "scratch: { a: b }\n"]) {
    project.commit(".pawl/config.yaml", policy);
    expect(await may(project, "notes/x.md", "build/x"), policy).toEqual([false, false]);
  }
});
