import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";

const INSTALL = ["install", "--profile", "hooks", "--yes"];

const run = (project: Project, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync("git", args, {
    cwd: project.path,
    env: project.env,
    encoding: "utf8",
  });
  return { status, said: `${stdout}${stderr}` };
};

describe("an approved merge that the remote was faster than", () => {
  const WAY = "pawl approve T0007 --redo --push";

  async function overtaken(project: Project): Promise<void> {
    const [origin, colleague] = ["../origin.git", "../colleague"];
    project.git("clone", "-q", "--bare", ".", origin);
    project.git("remote", "add", "origin", origin);
    project.git("fetch", "-q", "origin");
    project.git("branch", "-q", "--set-upstream-to=origin/main");
    expect((await project.pawl(...INSTALL)).code).toBe(0);
    // As approve does it: a merge with a trailer, and a grant for exactly this move.
    const old = project.git("rev-parse", "main");
    const message = "Merge T0007: Retry\n\nPawl-Task: T0007\nPawl-Approval: T0007/A1";
    const merged = project.git("commit-tree", "-p", old, "-m", message, "main^{tree}");
    const grant = join(project.path, ".git/pawl/grants/update/refs/heads/main");
    mkdirSync(join(grant, ".."), { recursive: true });
    writeFileSync(grant, `${old} ${merged} refs/heads/main\n`);
    project.git("update-ref", "refs/heads/main", merged, old);
    rmSync(grant);
    project.git("clone", "-q", origin, colleague);
    const there = ["-C", colleague, "-c", "user.name=Bo", "-c", "user.email=b@x"];
    project.git(...there, "commit", "-q", "--allow-empty", "-m", "theirs");
    project.git("-C", colleague, "push", "-q");
  }

  test("is named by everything that one tries then", { tags: ["proof"] }, async ({ project }) => {
    await overtaken(project);
    expect((await project.pawl("status")).err).not.toContain(WAY);
    project.git("fetch", "-q");
    const tries = [
      ["pull", "-q", "--no-rebase", "--no-edit"],
      ["pull", "-q", "--rebase"],
      ["reset", "-q", "--hard", "origin/main"],
      ["merge", "-q", "--no-edit", "origin/main"],
    ];
    for (const args of tries) {
      const { status, said } = run(project, ...args);
      expect([status === 0, said], args.join(" ")).toEqual([false, expect.stringContaining(WAY)]);
      run(project, "reset", "-q", "--hard");
    }
    const told = await project.pawl("status", "--json");
    expect([told.json.next.command, told.json.warnings.join()]).toEqual([WAY, expect.stringContaining(WAY)]);
    const { json } = await project.pawl("doctor", "--json");
    expect(json.data.doctor.diagnoses).toEqual(
      expect.arrayContaining([expect.objectContaining({ code: "overtaken", level: "note", command: WAY })]),
    );
  });

  test("nothing is named where the remote has it, with a colleague's commits on top", async ({ project }) => {
    await overtaken(project);
    const [origin, colleague] = [join(project.path, "../origin.git"), join(project.path, "../colleague")];
    project.git("-C", origin, "fetch", "-q", project.path, "+main:main");
    project.git("-C", colleague, "fetch", "-q");
    project.git("-C", colleague, "reset", "-q", "--hard", "origin/main");
    const there = ["-C", colleague, "-c", "user.name=Bo", "-c", "user.email=b@x"];
    project.git(...there, "commit", "-q", "--allow-empty", "-m", "on top");
    project.git("-C", colleague, "push", "-q");
    const amend = ["commit", "-q", "--amend", "--allow-empty", "-m", "x"];
    expect(run(project, "push").said, "before a fetch").not.toContain("--redo");
    project.git("fetch", "-q");
    for (const args of [["push"], ["reset", "-q", "--hard", "HEAD~1"], amend]) {
      const { status, said } = run(project, ...args);
      expect([status === 0, said], args.join(" ")).toEqual([false, expect.not.stringContaining("--redo")]);
      run(project, "reset", "-q", "--hard");
    }
    expect((await project.pawl("status")).err).not.toContain("--redo");
    expect(run(project, "pull", "-q", "--ff-only")).toEqual({ status: 0, said: "" });
  });

  test("nor for an amend while the remote stands still", async ({ project }) => {
    await overtaken(project);
    const { status, said } = run(project, "commit", "-q", "--amend", "--allow-empty", "-m", "x");
    expect([status === 0, said]).toEqual([false, expect.not.stringContaining("--redo")]);
  });

  test("nothing is named while it only waits to be pushed", async ({ project }) => {
    await overtaken(project);
    const { err } = await project.pawl("status");
    expect(err).not.toContain("--redo");
    expect(err).toContain(
      "the approved merge of T0007, and origin does not. To publish it: git push origin main",
    );
    expect(run(project, "pull", "-q", "--ff-only").said).not.toContain("pawl unlock");
  });
});

test("a running unlock is shown with the time that is left", async ({ project }) => {
  await project.pawl(...INSTALL);
  const grant = join(project.path, ".git/pawl/grants/unlock/refs/heads/main");
  mkdirSync(join(grant, ".."), { recursive: true });
  for (const [seconds, words] of [
    [9 * 60 - 5, "main is unlocked for 9 more minutes"],
    [30, "main is unlocked for 1 more minute:"],
    [-5, undefined],
  ] as const) {
    writeFileSync(grant, `${Math.floor(Date.now() / 1000) + seconds} x\n`);
    for (const command of ["status", "session", "doctor"]) {
      const { out, err } = await project.pawl(command);
      if (words) expect(out + err, command).toContain(words);
      else expect(out + err, command).not.toContain("unlocked");
    }
  }
});

describe("a commit that will be refused", () => {
  test("is refused before the project's own slow checks, and only then", async ({ project }) => {
    const ran = join(project.path, "..", "ran");
    mkdirSync(join(project.path, ".git/hooks"));
    writeFileSync(join(project.path, ".git/hooks/pre-commit"), `#!/bin/sh\necho x >> '${ran}'\n`, {
      mode: 0o755,
    });
    await project.pawl(...INSTALL);
    const commit = () => run(project, "commit", "-q", "--allow-empty", "-m", "x");
    expect(commit()).toMatchObject({
      status: 1,
      said: expect.stringContaining("pawl: refused: main is protected"),
    });
    expect(existsSync(ran)).toBe(false);
    // Without that look the guard itself refuses all the same.
    expect(run(project, "commit", "-q", "-n", "--allow-empty", "-m", "x").said).toContain("pawl: refused");
    run(project, "checkout", "-q", "-b", "feature");
    expect(commit().status).toBe(0);
    expect(existsSync(ran)).toBe(true);
    run(project, "checkout", "-q", "--detach");
    expect(commit().status).toBe(0);
    run(project, "checkout", "-q", "main");
    const grant = join(project.path, ".git/pawl/grants/unlock/refs/heads/main");
    mkdirSync(join(grant, ".."), { recursive: true });
    writeFileSync(grant, `${Math.floor(Date.now() / 1000) + 60} x\n`);
    expect(commit().status).toBe(0);
  });

  test("the first commit of an empty repository is none of them", async ({ project }) => {
    const empty = join(project.path, "..", "empty");
    project.git("init", "-q", "-b", "main", empty);
    mkdirSync(join(empty, ".git/hooks"), { recursive: true });
    writeFileSync(join(empty, ".git/hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 });
    expect((await project.pawlIn(empty, {}, ...INSTALL)).code).toBe(0);
    const commit = ["commit", "-q", "--allow-empty", "-m", "first"];
    expect(spawnSync("git", commit, { cwd: empty, env: project.env }).status).toBe(0);
    expect(spawnSync("git", commit, { cwd: empty, env: project.env }).status).not.toBe(0);
  });

  test("says how to take the changes along, as no other refused move does", async ({ project }) => {
    project.commit("tracked.txt", "tracked\n");
    project.git("checkout", "-q", "-b", "feature");
    project.commit("feature.txt", "work\n");
    const patch = project.git("format-patch", "-1", "-o", "..");
    project.git("checkout", "-q", "main");
    expect((await project.pawl(...INSTALL)).code).toBe(0);
    const refusal = (...args: string[]) => {
      const { said } = run(project, ...args);
      for (const begun of ["am", "cherry-pick"]) run(project, begun, "--abort");
      run(project, "reset", "-q", "--hard");
      return said.match(/^pawl: Work on .*(?:\npawl: .*)?$/m)?.[0];
    };
    const begin = "pawl: Work on a task's branch (pawl start); a human merges it (pawl approve).";
    const [rescue, other] = [
      `${begin}\npawl: To take these changes along: pawl rescue TASK`,
      `${begin} To get what the remote has: git pull --ff-only`,
    ];
    for (const args of [["-a"], ["tracked.txt"]]) {
      project.write("tracked.txt", "changed\n");
      expect(refusal("commit", "-q", "-m", "x", ...args), args.join()).toBe(rescue);
    }
    for (const args of [
      ["commit", "-q", "--amend", "-m", "x"],
      ["reset", "-q", "--hard", "feature"],
      ["reset", "-q", "--hard", "HEAD~1"],
      ["merge", "-q", "feature"],
      ["merge", "-q", "--no-ff", "--no-edit", "feature"],
      ["cherry-pick", "feature"],
      ["revert", "--no-edit", "HEAD"],
      ["am", "-q", patch],
    ])
      expect(refusal(...args), args.join(" ")).toBe(other);
  });

  test("names pawl unlock to a human on a terminal, and to nobody else", async ({ project }) => {
    await project.pawl(...INSTALL);
    const commit = "git commit -q --allow-empty -m x";
    const onTerminal = (env: Record<string, string>) =>
      spawnSync("script", ["-qec", commit, "/dev/null"], {
        cwd: project.path,
        env: { ...project.env, ...env },
        encoding: "utf8",
      }).stdout;
    expect(onTerminal({})).toMatch(/pawl: refused: main is protected[\s\S]*pawl unlock main --for 10m/);
    for (const sign of ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI"]) {
      const said = onTerminal({ [sign]: "1" });
      expect(said).toContain("pawl: refused");
      expect(said).not.toContain("unlock");
    }
    expect(run(project, "commit", "-q", "--allow-empty", "-m", "x").said).not.toContain("unlock");
  });
});
