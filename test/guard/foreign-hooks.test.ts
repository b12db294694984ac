import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { moveHook } from "../../src/guard/foreign-hooks.ts";
import { canRun } from "../../src/guard/place.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { DISK } from "../helpers/temporary-repository.ts";

const INSTALL = ["install", "--profile", "hooks"];
const hook = (word: string) => `#!/bin/sh\n# ${word}\n`;
const inGit = (project: Project, ...names: string[]) => join(project.path, ".git", ...names);

/** A new folder on another file system than the project's. */
function folderElsewhere(project: Project): string | undefined {
  const place = [DISK, "/dev/shm"].find(
    (one) => existsSync(one) && statSync(one).dev !== statSync(project.path).dev,
  );
  return place && mkdtempSync(join(place, "pawl hooks "));
}

test("hooks move to another file system, there and beside the user's", async ({ project, skip }) => {
  const elsewhere = folderElsewhere(project);
  if (elsewhere === undefined) {
    expect(process.env.CI).toBeUndefined();
    return skip("everything is on one file system");
  }
  try {
    rmSync(inGit(project, "hooks"), { recursive: true, force: true });
    symlinkSync(elsewhere, inGit(project, "hooks"));
    writeFileSync(join(elsewhere, "commit-msg"), hook("the user's"), { mode: 0o755 });
    await project.pawl(...INSTALL);
    for (const name of ["commit-msg", "post-merge"])
      writeFileSync(inGit(project, "pawl", "hooks", name), hook("the tool's"), { mode: 0o755 });
    expect((await project.pawl(...INSTALL)).code).toBe(0);
    expect(readFileSync(join(elsewhere, "commit-msg"), "utf8")).toContain("the user's");
    for (const name of ["commit-msg.set-aside", "post-merge"]) {
      expect(readFileSync(join(elsewhere, name), "utf8")).toContain("the tool's");
      expect(canRun(join(elsewhere, name))).toBe(true);
    }
    writeFileSync(inGit(project, "pawl", "hooks", "pre-push"), hook("the tool's"), { mode: 0o755 });
    const gone = await project.pawl("uninstall", "--yes");
    expect(gone.code).toBe(0);
    expect(readFileSync(join(elsewhere, "pre-push"), "utf8")).toContain("the tool's");
    expect(existsSync(inGit(project, "pawl", "before"))).toBe(false);
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
});

test("a link of the user's that leads nowhere just now is kept, and the tool's hook set aside", async ({
  project,
}) => {
  const mine = inGit(project, "hooks", "commit-msg");
  mkdirSync(inGit(project, "hooks"), { recursive: true });
  symlinkSync("../../scripts/of-another-branch.sh", mine);
  await project.pawl(...INSTALL);
  const put = () =>
    writeFileSync(inGit(project, "pawl", "hooks", "commit-msg"), hook("the tool's"), { mode: 0o755 });
  put();
  await project.pawl(...INSTALL);
  put();
  await project.pawl("uninstall", "--yes");
  expect(readlinkSync(mine)).toBe("../../scripts/of-another-branch.sh");
  expect(readFileSync(`${mine}.set-aside`, "utf8")).toContain("the tool's");
});

test("the user's own hook is kept where the guard would leave a copy of itself, and git runs both", async ({
  project,
}) => {
  const mine = inGit(project, "hooks", "reference-transaction");
  const said = join(project.path, "..", "moves");
  const text = `#!/bin/sh\ncat >>"${said}"\n`;
  mkdirSync(inGit(project, "hooks"), { recursive: true });
  writeFileSync(mine, text, { mode: 0o755 });
  for (const _ of [1, 2]) await project.pawl(...INSTALL);
  expect(readFileSync(mine, "utf8")).toBe(text);
  project.git("branch", "seen");
  expect(readFileSync(said, "utf8")).toContain("refs/heads/seen");
  expect(() => project.git("commit", "-q", "--allow-empty", "-m", "x")).toThrow(/main is protected/);
  await project.pawl("uninstall", "--yes");
  expect(readFileSync(mine, "utf8")).toBe(text);
});

test("a hook that is a link leads to the same file afterwards", ({ project }) => {
  const [from, to] = [inGit(project, "pawl", "hooks", "pre-commit"), inGit(project, "hooks", "pre-commit")];
  const script = join(project.path, "tools", "check.sh");
  for (const folder of [join(from, ".."), join(to, ".."), join(script, "..")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(script, hook("the project's"));
  symlinkSync("../../../tools/check.sh", from);
  moveHook(from, to);
  expect(readFileSync(to, "utf8")).toContain("the project's");
  expect(readlinkSync(to)).toBe("../../tools/check.sh");
  expect(lstatSync(from, { throwIfNoEntry: false })).toBeUndefined();
});
