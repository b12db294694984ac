import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openProject } from "../helpers/command-line.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const root = makeTemporaryFolder("links");
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

/** What a hostile repository may track: nothing of it leads a record out of the repository. */
test.each([".pawl", ".pawl/state", ".pawl/state/tasks", ".pawl/state/events"])(
  "a link in place of %s is told and not followed",
  async (place) => {
    const name = place.replaceAll("/", " ");
    const project = openProject(makeRepository(root, `project ${name}`));
    const outside = join(root, `outside ${name}`);
    mkdirSync(outside);
    await project.pawl("task", "new", "Before");
    renameSync(join(project.path, place), join(root, `was ${name}`));
    symlinkSync(outside, join(project.path, place));
    const refused = await project.pawl("task", "new", "Elsewhere", "--json");
    expect([refused.code, refused.json.error.code]).toEqual([2, "state_misplaced"]);
    expect(readdirSync(outside)).toEqual([]);
  },
);

test.each([".pawl/state/tasks/T0001", ".pawl/state/.local"])(
  "nothing is written through a link in place of %s",
  async (place) => {
    const name = place.replaceAll("/", " ");
    const project = openProject(makeRepository(root, `deep ${name}`));
    await project.pawl("task", "new", "Before");
    const outside = join(root, `outside ${name}`);
    cpSync(join(project.path, place), outside, { recursive: true });
    const texts = () =>
      readdirSync(outside, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => readFileSync(join(one.parentPath, one.name), "utf8"));
    const before = texts();
    renameSync(join(project.path, place), join(root, `was ${name}`));
    symlinkSync(outside, join(project.path, place));
    const refused = await project.pawl("task", "update", "T1", "--title", "After", "--json");
    expect([refused.code, refused.json.error.code], refused.out).toEqual([2, "state_misplaced"]);
    expect(texts()).toEqual(before);
  },
);
