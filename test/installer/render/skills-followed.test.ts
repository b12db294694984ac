import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProject, type Project, type Result } from "../../helpers/command-line.ts";
import { makeRepository, makeTemporaryFolder } from "../../helpers/temporary-repository.ts";
import { commandsIn, shellWords } from "./commands.ts";
import { renderAll } from "./rendered.ts";

/*
 * The command lines of the skills, taken from their text and run in their order, as an agent would that does exactly
 * what it reads: what each step promises to print is there, and the task gets through every gate of the strict profile.
 */

const AUTHOR = { CODEX_SESSION_ID: "author-1" };
const REVIEWER = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "reviewer-1" };

let folder: string;
let project: Project;
let worktree = "";

beforeAll(() => {
  folder = makeTemporaryFolder("skills");
  project = openProject(makeRepository(folder));
  project.write(".pawl/config.yaml", "profile: strict\nchecks:\n  test: npm test\n");
  project.write("package.json", '{ "scripts": { "test": "node run.mjs" } }\n');
  project.write("src/upload.ts", "export const tries = 1;\n");
  project.write(
    "run.mjs",
    'import { existsSync, readFileSync } from "node:fs";\n' +
      'const wanted = existsSync("test/upload.test.ts") ? readFileSync("test/upload.test.ts", "utf8").trim() : "";\n' +
      'process.exit(readFileSync("src/upload.ts", "utf8").includes(wanted) ? 0 : 1);\n',
  );
  project.commit("README.md", "# Uploads\n");
});

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

/** The commands of one numbered step, or of the gate. */
function commandsOf(skill: string, part: number | "Gate" | "Stop"): string[] {
  const text = renderAll().find((one) => one.rendering === "portable" && one.name === skill)?.text ?? "";
  const pattern =
    typeof part === "number" ? new RegExp(`^${part}\\. .*$`, "m") : new RegExp(`^## ${part}\\n[^#]*`, "m");
  const found = pattern.exec(text)?.[0];
  if (found === undefined) throw new Error(`${skill} has no ${part}`);
  return commandsIn(found);
}

interface Following {
  who?: Record<string, string>;
  in?: string;
  /** Which of the step's commands, by how it begins; the only one where it is left out. */
  begins?: string;
  /** Words of the example that are others here. */
  with?: Record<string, string>;
}

async function follow(skill: string, part: number | "Gate" | "Stop", how: Following = {}): Promise<Result> {
  const all = commandsOf(skill, part).filter((one) => one.startsWith(how.begins ?? "pawl"));
  const [command] = all;
  if (command === undefined || (!how.begins && all.length > 1))
    throw new Error(`${skill} ${part}: ${all.length} commands`);
  const words = shellWords(command).map((word) => ({ "<task>": "T0001", ...how.with })[word] ?? word);
  return project.pawlIn(how.in ?? (worktree || project.path), how.who ?? AUTHOR, ...words.slice(1));
}

/** It ended with 0, and printed what the step says. */
async function expectStep(call: Promise<Result>, printed: RegExp = /(?:)/): Promise<Result> {
  const result = await call;
  expect(result.code, result.err + result.out).toBe(0);
  expect(result.out + result.err).toMatch(printed);
  return result;
}

function save(path: string, text: string): void {
  mkdirSync(dirname(join(worktree, path)), { recursive: true });
  writeFileSync(join(worktree, path), text);
}

function commit(): void {
  for (const args of [
    ["add", "-A"],
    ["commit", "-qm", "Step"],
  ])
    execFileSync("git", args, { cwd: worktree, env: project.env, stdio: "pipe" });
}

const reviewer = { who: REVIEWER };

describe.sequential("a strict task, by the letter of the skills", () => {
  test("scope", async () => {
    await expectStep(follow("pawl", 1), /No task/);
    await expectStep(follow("scope", 1));
    await expectStep(follow("scope", 3, { begins: "pawl task new" }), /T0001/);
    await expectStep(follow("scope", 6), /D1/);
    await expectStep(follow("scope", 7), /rev \d/);
    await expectStep(follow("scope", "Gate"), /not doing/);
  });

  test("plan-analyze", async () => {
    project.write("plan.md", "1. Try three times in src/upload.ts.\n");
    await expectStep(follow("scope", "Stop", { begins: "pawl task update" }), /rev \d/);
    await expectStep(follow("plan-analyze", 1), /Plan\n/);
    await expectStep(follow("plan-analyze", 4), /F1/);
    expect((await follow("plan-analyze", "Gate")).out).toMatch(/F1 .*medium/);
    await expectStep(follow("plan-analyze", 5, { begins: "pawl task update" }), /rev \d/);
    await expectStep(follow("plan-analyze", 5, { begins: "pawl finding resolve" }));
    expect((await follow("plan-analyze", "Gate")).out).not.toContain("F1");
  });

  test("planning-review: not by the author, and it opens the gate only with a pass", async () => {
    const own = await follow("planning-review", 1);
    expect(own.err).toMatch(/You wrote this work/);
    expect((await follow("planning-review", "Gate", reviewer)).code).toBe(1);
    const start = await expectStep(follow("planning-review", 1, reviewer), /Earlier findings/);
    expect(start.err).not.toMatch(/You wrote/);
    await expectStep(follow("planning-review", 2, { ...reviewer, begins: "pawl finding reopen" }));
    await expectStep(follow("planning-review", 2, { ...reviewer, begins: "pawl finding resolve" }));
    await expectStep(follow("planning-review", 5, reviewer), /F2/);
    expect((await follow("planning-review", 6, reviewer)).code).toBe(1);
    await expectStep(follow("planning-review", 6, { ...reviewer, with: { pass: "fail" } }), /V1/);
    const answered = { ...reviewer, begins: "pawl finding resolve", with: { F1: "F2" } };
    await expectStep(follow("planning-review", 2, answered));
    await expectStep(follow("planning-review", 6, reviewer), /V2/);
    await expectStep(follow("planning-review", "Gate", reviewer));
  });

  test("branch-lifecycle and tdd, up to the review", async () => {
    rmSync(join(project.path, "plan.md"));
    await expectStep(follow("branch-lifecycle", 2));
    const started = await expectStep(follow("branch-lifecycle", 3, { begins: "pawl start" }), /cd '/);
    worktree = /cd '(.+)'/.exec(started.out)?.[1] ?? "";
    await expectStep(follow("incremental-implementation", 2), /rev \d/);
    await expectStep(follow("tdd", 1), /S1/);
    await expectStep(follow("incremental-implementation", 4), /2 files/);
    expect((await follow("tdd", 3)).err, "a test that passes is no red").toMatch(/meant to fail/);
    save("test/upload.test.ts", "tries = 3\n");
    await expectStep(follow("tdd", 3), /red/);
    save("src/upload.ts", "export const tries = 3;\n");
    await expectStep(follow("tdd", 5, { begins: "pawl verify" }), /green/);
    await expectStep(follow("incremental-implementation", 6), /D\d/);
    commit();
    const closed = await expectStep(follow("tdd", 9), /S1 closed/);
    expect(closed.err).not.toMatch(/evidence/);
    await expectStep(follow("branch-lifecycle", 5), /passed/);
    await expectStep(follow("branch-lifecycle", 6, { begins: "pawl check" }));
    await expectStep(follow("branch-lifecycle", 6, { begins: "pawl task update" }), /review/);
  });

  test("branch-review and review-parallel", async () => {
    expect((await follow("branch-review", 1)).err).toMatch(/You wrote this work/);
    const start = await expectStep(follow("branch-review", 1, reviewer), /--head [0-9a-f]{12}/);
    expect(start.err).not.toMatch(/You wrote/);
    await expectStep(follow("branch-review", 2, { ...reviewer, begins: "pawl finding list" }), /F1/);
    await expectStep(follow("branch-review", 6, reviewer), /F3/);
    await expectStep(follow("review-parallel", 3, { ...reviewer, begins: "pawl finding add" }), /F4/);
    await expectStep(follow("review-parallel", 5, reviewer), /F3.*F4/s);
    const twice = { ...reviewer, begins: "pawl finding wontfix" };
    await expectStep(follow("review-parallel", 6, twice), /wontfix/);
    const found = { ...reviewer, with: { F1: "F3", F2: "F4" } };
    await expectStep(follow("review-parallel", 7, found), /V3 branch: fail(?!.*not counted)/);
    expect((await follow("branch-review", "Gate", reviewer)).out).toMatch(/F3/);
  });

  test("settling, the close gate, and the handoff", async () => {
    save("src/upload.ts", "export const tries = 3; // bounded\n");
    commit();
    const fixed = { begins: "pawl finding resolve", with: { F1: "F3" } };
    await expectStep(follow("branch-lifecycle", 8, fixed), /fixed/);
    await expectStep(follow("branch-lifecycle", 5), /passed/);
    expect((await follow("branch-lifecycle", "Gate", { begins: "pawl check" })).code).toBe(1);
    await expectStep(follow("branch-review", 7, reviewer), /V4 branch: pass(?!.*not counted)/);
    await expectStep(follow("branch-lifecycle", 9, { begins: "pawl handoff" }), /H1/);
    await expectStep(follow("branch-lifecycle", 9, { begins: "pawl snapshot" }), /saved/);
    await expectStep(follow("branch-lifecycle", "Gate", { begins: "pawl check" }), /approve T0001/);
    const approved = await follow("branch-lifecycle", 10);
    expect([approved.code, approved.err]).toEqual([1, expect.stringMatching(/human|terminal/)]);
    await expectStep(follow("handoff-lifecycle", "Gate"), /last handoff T0001\/H1/);
  });

  test("investigate, auto-fix and handing over what failed", async () => {
    save("test/upload.test.ts", "tries = 4\n");
    await expectStep(follow("investigate", 1), /red/);
    await expectStep(follow("investigate", 2));
    await expectStep(follow("investigate", 6), /D\d/);
    await expectStep(follow("investigate", 10), /N0001/);
    await expectStep(follow("auto-fix", 2), /red/);
    expect((await follow("auto-fix", 6)).code).toBe(1);
    await expectStep(follow("auto-fix", 7), /D\d/);
    await expectStep(follow("auto-fix", "Stop", { begins: "pawl task update" }), /blocked/);
    await expectStep(follow("auto-fix", "Stop", { begins: "pawl handoff" }), /H2/);
    await expectStep(follow("handoff-lifecycle", 9), /H3/);
    await expectStep(follow("handoff-lifecycle", 10), /saved/);
    await expectStep(follow("handoff-lifecycle", 2), /H3/);
    await expectStep(follow("branch-lifecycle", "Stop", { begins: "pawl finish" }), /kept/);
    await expectStep(follow("handoff-lifecycle", 3), /cd '/);
  });
});
