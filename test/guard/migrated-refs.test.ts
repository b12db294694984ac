// @module-tag proof
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newerGit, notRun } from "../helpers/optional-program.ts";
import { type GuardedRepository, makeGuardedRepository } from "./guarded-repository.ts";

const git = newerGit();
const skipped = notRun(git !== undefined, "git 2.54 or newer");

describe.skipIf(!git)(`refs that are migrated under a running guard${skipped}`, () => {
  let at: GuardedRepository;
  beforeAll(async () => {
    if (git) at = await makeGuardedRepository({ git });
  });
  afterAll(() => at?.remove());
  beforeEach(() => at?.reset());

  const refused = () => at.sh("git commit -q --allow-empty -m x").err.includes("pawl: refused");
  // Git migrates nothing that has linked worktrees.
  const migrate = (format: string) =>
    at.sh(
      `git worktree remove -f -f "$W" 2>/dev/null; git worktree prune; git refs migrate --ref-format=${format}`,
    );

  test("to tables and back: guarded all the time, and no command stumbles", () => {
    for (const format of ["reftable", "files"]) {
      expect(migrate(format)).toMatchObject({ code: 0 });
      expect(existsSync(join(at.repo, ".git/reftable"))).toBe(format === "reftable");
      expect(refused(), format).toBe(true);
      const commands = [
        ["status"],
        ["session"],
        ["note", "add", "x"],
        ["task", "new", format],
        ["audit"],
        ["install", "--profile", "hooks"],
      ];
      for (const command of commands) {
        const { code, err, out } = at.pawl(...command);
        expect(`${out}${err}`, command.join(" ")).not.toMatch(/bug in pawl|ENOTDIR/);
        expect(code, `${command.join(" ")}: ${err}`).toBe(0);
      }
      expect(refused(), format).toBe(true);
      expect(at.sh("git branch -D main").err + at.sh("git update-ref -d refs/heads/main").err).toContain(
        "pawl: refused",
      );
      expect(
        at.sh("git checkout -q -B other && git commit -q --allow-empty -m x; git checkout -q main").code,
      ).toBe(0);
    }
  });

  test("a move with hooks off is found there, by the guard and by an audit", () => {
    migrate("reftable");
    at.sh("git tag one");
    const off = "git -c core.hooksPath=/dev/null -c hook.pawl.enabled=false";
    expect(at.sh(`${off} commit -q --allow-empty -m x`).code).toBe(0);
    expect(at.sh("git tag two").err).toContain("pawl: warning: main is protected");
    expect(at.sh("git tag three").err).toBe("");
    expect(at.pawl("audit").code).toBe(1);
  });

  test("leaves nothing behind when pawl goes", () => {
    const config = readFileSync(join(at.repo, ".git/config"), "utf8");
    migrate("reftable");
    const now = readFileSync(join(at.repo, ".git/config"), "utf8");
    expect(at.pawl("note", "add", "x").code).toBe(0);
    expect(readFileSync(join(at.repo, ".git/config"), "utf8")).toBe(now);
    expect(at.pawl("uninstall", "--yes").code).toBe(0);
    const ours = /^\thooksPath = .*\n|^\[hook "pawl"\]\n(?:\t.*\n)*/gm;
    expect(readFileSync(join(at.repo, ".git/config"), "utf8")).toBe(now.replace(ours, ""));
    expect(config).toMatch(ours);
    expect(existsSync(join(at.repo, ".git/pawl/tables"))).toBe(false);
  });
});
