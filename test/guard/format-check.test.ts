import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { notRun } from "../helpers/optional-program.ts";
import { inTiers } from "../helpers/rows.ts";
import { useShell } from "./guarded-repository.ts";

const INSTALL = ["install", "--profile", "hooks"];
const SHELLS = ["/bin/dash", "/bin/bash", "/bin/busybox sh"];
const isThere = (shell: string) => existsSync(shell.split(" ")[0] ?? "");

/** Writes down what it was given, and does not like the word "bad". */
const CHECKER = `#!/bin/sh
for file; do printf '%s\\0' "$file" >>"$SEEN"; grep -q bad -- "$file" && exit 3; done
exit 0
`;

interface Checked {
  seen(): string[];
  git(...args: string[]): { code: number; err: string };
  write(path: string, text: string): void;
}

async function prepare(project: Project, format: string, shell?: string): Promise<Checked> {
  const checker = join(project.path, "..", "check it");
  writeFileSync(checker, CHECKER, { mode: 0o755 });
  project.write(".pawl/config.yaml", `${format.replaceAll("CHECK", `"'${checker}'`)}\n`);
  project.git("add", "-f", ".pawl/config.yaml");
  project.git("commit", "-q", "-m", "Policy");
  expect(await project.pawl(...INSTALL)).toMatchObject({ code: 0 });
  if (shell) useShell(join(project.path, ".git"), shell);
  project.git("checkout", "-q", "-b", "work");
  const log = join(project.path, "..", "seen");
  return {
    write: project.write,
    seen() {
      const names = existsSync(log) ? readFileSync(log, "utf8").split("\0").slice(0, -1) : [];
      rmSync(log, { force: true });
      return names.sort();
    },
    git(...args) {
      const env = { ...project.env, SEEN: log };
      const { status, stderr } = spawnSync("git", args, { cwd: project.path, env, encoding: "utf8" });
      return { code: status ?? 128, err: stderr };
    },
  };
}

for (const { tags, rows } of inTiers(SHELLS, (_shell, index) => index === 0))
  describe.each(rows)("the format check, run by %s", { tags }, (shell) => {
    const skipped = notRun(isThere(shell), shell);

    test.skipIf(!isThere(shell))(
      `gets every name as it is${skipped}`,
      { tags: ["proof"] },
      async ({ project }) => {
        const at = await prepare(project, 'format: CHECK {files}"', shell);
        const names = ["a b", "two\nlines", "-x", "--quiet", '"q"', "back\\slash", "*", "'s", "d/e f", "ünï"];
        for (const name of names) at.write(name, "good");
        expect(at.git("add", "-A")).toMatchObject({ code: 0 });
        expect(at.git("commit", "-q", "-m", "x")).toMatchObject({ code: 0 });
        expect(at.seen()).toEqual(names.map((one) => (one.startsWith("-") ? `./${one}` : one)).sort());
        at.write("a b", "bad");
        const refused = at.git("commit", "-q", "-am", "y");
        expect(refused.code).toBe(1);
        expect(refused.err).toMatch(/pawl: refused: the format check failed: .*\{files\}\npawl: Fix it/);
        expect(at.seen()).toEqual(["a b"]);
      },
    );

    test.skipIf(!isThere(shell))(
      `sees the files of the commit in progress, and no others${skipped}`,
      async ({ project }) => {
        const at = await prepare(project, 'format: CHECK {files}"', shell);
        for (const name of ["one", "two", "three"]) at.write(name, "good");
        at.git("add", "-A");
        at.git("commit", "-q", "-m", "x");
        at.seen();
        at.write("one", "good 1");
        at.write("two", "bad");
        at.git("add", "two");
        // `two` is staged, and not part of this commit.
        expect(at.git("commit", "-q", "-m", "only one", "--", "one")).toMatchObject({ code: 0 });
        expect(at.seen()).toEqual(["one"]);
        expect(at.git("commit", "-q", "-m", "two").code).toBe(1);
        expect(at.seen()).toEqual(["two"]);
        at.write("three", "bad");
        at.git("reset", "-q");
        at.write("two", "good");
        expect(at.git("commit", "-q", "-am", "all").code).toBe(1);
        expect(at.seen()).toEqual(["three"]);
        // What is deleted cannot be checked, and what changed nothing needs no check.
        rmSync(join(project.path, "three"));
        expect(at.git("commit", "-q", "-am", "gone")).toMatchObject({ code: 0 });
        expect(at.git("commit", "-q", "--allow-empty", "-m", "empty")).toMatchObject({ code: 0 });
        expect(at.seen()).toEqual([]);
      },
    );

    test.skipIf(!isThere(shell))(`does without xargs${skipped}`, async ({ project }) => {
      const at = await prepare(project, 'format: CHECK {files}"', shell);
      const bin = join(project.path, "..", "few");
      mkdirSync(bin);
      for (const name of ["git", "sh", "grep"]) {
        const path = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
        symlinkSync(path, join(bin, name));
      }
      const git = (...args: string[]) => {
        const env = { ...project.env, SEEN: join(project.path, "../seen"), PATH: bin };
        return spawnSync("git", args, { cwd: project.path, env, encoding: "utf8" });
      };
      for (const name of ["a b", "*", "-x", "ünï"]) at.write(name, "good");
      git("add", "-A");
      expect(git("commit", "-q", "-m", "x")).toMatchObject({ status: 0 });
      expect(at.seen()).toEqual(["*", "./-x", "a b", "ünï"]);
      at.write("two\nlines", "good");
      git("add", "-A");
      expect(git("commit", "-q", "-m", "x").stderr).toContain("can take only through xargs");
    });
  });

describe("the format check", () => {
  test("takes commands by the files they are for", async ({ project }) => {
    const at = await prepare(project, 'format:\n  "*.ts": CHECK {files}"\n  docs: "exit 1"');
    at.write("src/a.ts", "good");
    at.write("b.md", "bad");
    at.git("add", "-A");
    expect(at.git("commit", "-q", "-m", "x")).toMatchObject({ code: 0 });
    expect(at.seen()).toEqual(["src/a.ts"]);
    at.write("docs/x", "good");
    at.git("add", "-A");
    expect(at.git("commit", "-q", "-m", "x").err).toContain("the format check failed: exit 1");
  });

  test("runs in a linked worktree, at its top, and with that one's index", async ({ project }) => {
    const at = await prepare(project, 'format: "test -f top && git diff --cached --name-only >>\\"$SEEN\\""');
    project.git("worktree", "add", "-q", "-b", "side", "../a side");
    const side = join(project.path, "../a side");
    mkdirSync(join(side, "deep"));
    writeFileSync(join(side, "top"), "");
    writeFileSync(join(side, "deep/file"), "");
    const env = { ...project.env, SEEN: join(project.path, "../seen") };
    const run = (...args: string[]) => spawnSync("git", args, { cwd: join(side, "deep"), env });
    run("add", "-A", "..");
    expect(run("commit", "-q", "-m", "x").status).toBe(0);
    expect(readFileSync(env.SEEN, "utf8")).toBe("deep/file\ntop\n");
    expect(at.git("status", "--porcelain").code).toBe(0);
  });

  test("is asked before the hook that was there, which goes on running", async ({ project }) => {
    mkdirSync(join(project.path, ".git/hooks"));
    const own = join(project.path, ".git/hooks/pre-commit");
    writeFileSync(own, '#!/bin/sh\nprintf own >>"$SEEN"\nexit 7\n', { mode: 0o755 });
    project.git("config", "core.hooksPath", "/dev/null");
    const at = await prepare(project, 'format: "grep -r bad . --include=f && exit 1; exit 0"');
    project.git("config", "--unset", "core.hooksPath");
    await project.pawl(...INSTALL);
    at.write("f", "bad");
    at.git("add", "-A");
    expect(at.git("commit", "-q", "-m", "x").err).toContain("the format check failed");
    expect(at.seen()).toEqual([]);
    at.write("f", "good");
    at.git("add", "-A");
    expect(at.git("commit", "-q", "-m", "x").code).not.toBe(0);
    expect(readFileSync(join(project.path, "../seen"), "utf8")).toBe("own");
  });

  test("there is no pre-commit where there is nothing to do", async ({ project }) => {
    await project.pawl(...INSTALL);
    expect(existsSync(join(project.path, ".git/pawl/hooks/pre-commit"))).toBe(false);
  });

  test("comes and goes with the policy; what an agent takes out of a copy stays", async ({ project }) => {
    await project.pawl(...INSTALL);
    const hook = join(project.path, ".git/pawl/hooks/pre-commit");
    project.write(".pawl/config.yaml", "format: exit 1\n");
    await project.pawl(...INSTALL);
    expect(existsSync(hook)).toBe(true);
    rmSync(join(project.path, ".pawl/config.yaml"));
    const { err } = await project.pawlIn(project.path, { CLAUDECODE: "1" }, "note", "add", "x");
    expect(err).toContain('no longer names the format check "exit 1"');
    expect(existsSync(hook)).toBe(true);
    await project.pawl(...INSTALL);
    expect(existsSync(hook)).toBe(false);
  });

  test("is not brought by an agent's copy, nor by a commit that came past the guard", async ({ project }) => {
    await project.pawl(...INSTALL);
    const hook = join(project.path, ".git/pawl/hooks/pre-commit");
    const asAgent = (...argv: string[]) => project.pawlIn(project.path, { CLAUDECODE: "1" }, ...argv);
    project.write(".pawl/config.yaml", "format: exit 1\nprotected: [main, precious]\n");
    await asAgent("note", "add", "x");
    await asAgent(...INSTALL);
    expect(readFileSync(join(project.path, ".git/pawl/policy"), "utf8")).toContain("precious");
    expect(existsSync(hook)).toBe(false);
    const { out } = await project.pawl("doctor");
    expect(out).toContain('names the format check "exit 1", but the hooks were written without it');
    project.git("add", "-f", ".pawl/config.yaml");
    project.git(
      "-c",
      "core.hooksPath=/dev/null",
      "-c",
      "hook.pawl.enabled=false",
      "commit",
      "-qm",
      "Smuggle it in",
    );
    await asAgent("note", "add", "x");
    await project.pawl("note", "add", "x");
    expect(existsSync(hook)).toBe(false);
  });

  test.for([
    ["format: [a]", "a command, or files with commands"],
    ['format:\n  "*.ts": [a]', 'a command for the files "*.ts"'],
  ])("is refused when it is no command: %s", async ([text, expected], { project }) => {
    project.write(".pawl/config.yaml", `${text}\n`);
    const { code, err } = await project.pawl(...INSTALL);
    expect([code, err]).toEqual([2, expect.stringContaining(expected as string)]);
  });
});
