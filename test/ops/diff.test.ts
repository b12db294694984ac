import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { main } from "../../src/cli/main.ts";
import { styleFor } from "../../src/cli/style.ts";
import { paintPatch } from "../../src/flows/snapshot/paint-patch.ts";
import { openProject, type Project, test } from "../helpers/command-line.ts";
import { type HandMadeRun, makeRun } from "../helpers/hand-made-run.ts";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import { makeRepository, stateOf } from "../helpers/temporary-repository.ts";

const PATCH = "tasks/T0001/runs/R1/my project.patch";
const LATIN1 = Buffer.from("stra\xdfe\n", "latin1");

async function savedRun(project: Project): Promise<HandMadeRun> {
  const work = await makeRun(project);
  work.write("latin1.txt", LATIN1);
  work.write("some.bin", Buffer.from([0, 1, 2, 3]));
  work.write("README.md", "# Another\n");
  expect((await project.pawl("snapshot", "T1")).code).toBe(0);
  return work;
}

/** What a pipe gets, byte for byte. */
async function piped(project: Project, ...argv: string[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const code = await main(argv, {
    cwd: project.path,
    env: project.env,
    out: (text) => chunks.push(Buffer.from(text as Buffer)),
    err: () => {},
    outIsTerminal: () => false,
    errIsTerminal: () => false,
    atTerminal: () => true,
    ask: async () => undefined,
    readText: () => "",
  });
  expect(code).toBe(0);
  return Buffer.concat(chunks);
}

test("piped, it is the patch byte for byte, below a heading that git apply skips", async ({ project }) => {
  const work = await savedRun(project);
  const out = await piped(project, "diff", "T1");
  const patch = readFileSync(join(stateOf(project), PATCH));
  const heading = out.subarray(0, out.indexOf(10) + 1).toString();
  expect(heading).toMatch(/^# my project {2}[0-9a-f]{12}\.\.[0-9a-f]{12} {2}3 files, \+2 -1 {2}T0001\/R1/);
  expect(out.subarray(heading.length).equals(patch)).toBe(true);
  expect(out.includes(LATIN1.subarray(0, 5))).toBe(true);
  // Back in a fresh checkout of where the run began.
  project.git("worktree", "add", "-q", "--detach", "../fresh", work.base);
  execFileSync("git", ["apply", "--index"], { cwd: join(project.path, "../fresh"), input: out });
  expect(readFileSync(join(project.path, "../fresh/latin1.txt")).equals(LATIN1)).toBe(true);
});

test("it works after the worktree and the branch are gone, and where only the state is", async ({
  project,
}) => {
  const work = await savedRun(project);
  const before = await piped(project, "diff", "T1");
  project.git("worktree", "remove", "--force", work.worktree);
  project.git("branch", "-D", "task/T0001");
  expect((await piped(project, "diff", "T1")).equals(before)).toBe(true);

  const other = openProject(makeRepository(join(project.path, "../elsewhere")));
  await other.pawl("task", "new", "Something else");
  rmSync(join(stateOf(other), "tasks"), { recursive: true });
  cpSync(join(stateOf(project), "tasks"), join(stateOf(other), "tasks"), { recursive: true });
  expect((await piped(other, "diff", "T1")).equals(before)).toBe(true);
});

describe("a patch that is not the recorded one", () => {
  test("is not shown: the kept commit is, and that is said", async ({ project }) => {
    await savedRun(project);
    const patch = readFileSync(join(stateOf(project), PATCH));
    writeFileSync(join(stateOf(project), PATCH), patch.subarray(0, patch.length / 2));
    const { json } = await project.pawl("diff", "T1", "--json");
    expect(json.data.diffs[0].from).toBe("commit");
    expect(json.warnings[0]).toContain("is missing or was changed");
    const out = await piped(project, "diff", "T1");
    expect(out.subarray(out.indexOf(10) + 1).equals(patch)).toBe(true);
  });

  test("without the commit exits 2", async ({ project }) => {
    const work = await savedRun(project);
    rmSync(join(stateOf(project), PATCH));
    project.git("update-ref", "-d", "refs/pawl/snapshots/T0001/R1");
    project.git("worktree", "remove", "--force", work.worktree);
    project.git("branch", "-D", "task/T0001");
    project.git("reflog", "expire", "--expire=now", "--all");
    project.git("gc", "-q", "--prune=now");
    const { code, json } = await project.pawl("diff", "T1", "--json");
    expect(code).toBe(2);
    expect(json.error.code).toBe("patch_damaged");
  });
});

test("--stat counts from the patch, --repo chooses, a task without a snapshot is refused", async ({
  project,
}) => {
  const work = await makeRun(project);
  const none = await project.pawl("diff", "T1", "--json");
  expect([none.code, none.json.error.code]).toEqual([1, "snapshot_missing"]);
  work.write("a b.txt", "1\n2\n3\n");
  work.write("some.bin", Buffer.from([0, 1, 2, 3]));
  work.write("README.md", "# Another\n");
  await project.pawl("snapshot", "T1");
  const { out } = await project.pawl("diff", "T1", "--stat");
  expect(out).toContain("3 files, +4 -1");
  expect(out).toMatch(/a b\.txt +3 +\+\+\+\n/);
  expect(out).toMatch(/some\.bin +binary/);
  expect(out).toMatch(/README\.md +2 +\+-\n/);
  const { json } = await project.pawl("diff", "T1", "--json", "--repo", "my project");
  expect(json.data.diffs).toMatchObject([
    { repo: "my project", run: "T0001/R1", files: 3, patch_path: PATCH },
  ]);
  expect((await project.pawl("diff", "T1", "--repo", "other")).code).toBe(4);
});

test("white space can be ignored and later changes shown, as long as the commit is here", async ({
  project,
}) => {
  const work = await makeRun(project);
  const readme = readFileSync(join(project.path, "README.md"), "utf8").replace(/ /g, "    ");
  work.write("README.md", readme);
  work.write("kept.txt", "one\n");
  await project.pawl("snapshot", "T1");
  const { commit } = (await project.pawl("diff", "T1", "--json")).json.data.diffs[0];
  const plain = (await project.pawl("diff", "T1")).out;
  expect(plain).toContain(`+${readme}`);
  const without = (await project.pawl("diff", "T1", "--ignore-space")).out;
  expect(without).toContain("+one");
  expect(without).not.toContain("README.md");
  work.write("kept.txt", "one\ntwo\n");
  await project.pawl("snapshot", "T1");
  const { out } = await project.pawl("diff", "T1", "--since", commit);
  expect(out).toContain(`# my project  ${commit.slice(0, 12)}..`);
  expect(out).toContain("1 file, +1 -0");
  expect(out).toContain("+two");
  expect(out).not.toMatch(/^\+one/m);
  const wrong = await project.pawl("diff", "T1", "--since", "--output=x", "--json");
  expect([wrong.code, wrong.json.error.code]).toEqual([3, "bad_input"]);
  const unknown = await project.pawl("diff", "T1", "--since", "0123456789", "--json");
  expect([unknown.code, unknown.json.error.code]).toEqual([2, "commit_missing"]);
});

test("a branch that has moved since is reported", async ({ project }) => {
  const work = await savedRun(project);
  expect((await project.pawl("diff", "T1")).err).toBe("");
  work.git("add", "-A");
  work.git("commit", "-q", "-m", "More");
  expect((await project.pawl("diff", "T1")).err).toContain("has moved on since");
});

test("a patch of many megabytes is streamed", async ({ project }) => {
  const work = await makeRun(project);
  work.write("big.txt", "0123456789abcdef\n".repeat(700_000));
  await project.pawl("snapshot", "T1");
  const chunks: number[] = [];
  await main(["diff", "T1"], {
    cwd: project.path,
    env: project.env,
    out: (text) => chunks.push(text.length),
    err: () => {},
    outIsTerminal: () => false,
    errIsTerminal: () => false,
    atTerminal: () => true,
    ask: async () => undefined,
    readText: () => "",
  });
  expect(Math.max(...chunks)).toBeLessThan(1_000_000);
  const { size } = statSync(join(stateOf(project), PATCH));
  expect(size).toBeGreaterThan(11_000_000);
  expect(chunks.slice(1).reduce((sum, one) => sum + one, 0)).toBe(size);
});

test("colours go by what a line is, not by how it begins, and no byte of it changes", async () => {
  const text = Buffer.from(
    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n--- deleted dashes\n+++ added \xff\n same\ndiff --git a/b b/b\nGIT binary patch\nliteral 1\nIc${Nk\n\n",
    "latin1",
  );
  async function* pieces() {
    for (let at = 0; at < text.length; at += 7) yield text.subarray(at, at + 7);
  }
  const out: Uint8Array[] = [];
  for await (const piece of paintPatch(pieces(), styleFor(true, {}))) out.push(piece);
  expect(Buffer.concat(out).toString("latin1").replaceAll("\u001b", "^")).toBe(
    [
      "^[1mdiff --git a/a b/a^[22m\n^[1m--- a/a^[22m\n^[1m+++ b/a^[22m\n^[36m@@ -1,2 +1,2 @@^[39m\n",
      "^[31m--- deleted dashes^[39m\n^[32m+++ added \xff^[39m\n same\n^[1mdiff --git a/b b/b^[22m\n^[2m(binary)^[22m\n",
    ].join(""),
  );
});

test("on a terminal it goes through the user's pager, and closing that early is quiet", {
  tags: ["proof"],
  timeout: 60_000,
}, async ({ project }) => {
  const work = await savedRun(project);
  work.write("big.txt", "0123456789abcdef\n".repeat(50_000));
  await project.pawl("snapshot", "T1");
  const program = await bundlePawl(join(project.path, "../program"));
  const show = (env: Record<string, string>, ...argv: string[]) =>
    onTerminal(program, { ...project, env: { ...project.env, ...env } }, ["diff", "T1", ...argv], "");
  const paged = await show({ PAGER: "false", GIT_PAGER: "sed -n 's/^/paged: /p;5q'" });
  expect(paged.code).toBe(0);
  expect(paged.out.trim().split("\n")).toHaveLength(5);
  expect(paged.out).toMatch(/^paged: # my project /);
  expect(await show({ PAGER: "true" })).toEqual({ code: 0, out: "" });
  const missing = await show({ PAGER: "no-such-pager --at-all" });
  expect(missing.out).toContain("# my project");
  expect(missing.out.length).toBeGreaterThan(800_000);
  expect((await show({ PAGER: "sed s/^/paged:/" }, "--stat")).out).not.toContain("paged:");
});
