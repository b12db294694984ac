import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { openProject } from "../helpers/command-line.ts";
import { momentsOf, testKills } from "../helpers/kills.ts";
import { runHere } from "../helpers/perform-job.ts";
import {
  copyRepository,
  makeRepository,
  makeTemporaryFolder,
  stateOf,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

const WORKTREE = ".worktrees/T0001-make-it-faster";
const GIT_DIR = ".git/worktrees/T0001-make-it-faster";
const CALL = { operation: "rescue", input: { task: "T0001" } };
/** What went astray: the text that has to survive, at its path; undefined for what was deleted. */
const ASTRAY: Readonly<Record<string, string | undefined>> = {
  "README.md": "# Astray\n",
  "src/new.ts": "new\n",
  "src/old.ts": undefined,
};

let root: string;
let worker: string;
let prepared: TemporaryRepository;

beforeAll(async () => {
  root = makeTemporaryFolder("rescue crash");
  worker = await bundleProgram(
    join(import.meta.dirname, "../helpers/operation-worker.ts"),
    join(root, "worker"),
    "worker",
  );
  prepared = makeRepository(root);
  const project = openProject(prepared);
  project.commit("src/old.ts", "old\n");
  await project.pawl("task", "new", "Make it faster");
  expect((await project.pawl("start", "T1")).code).toBe(0);
  writeFileSync(join(prepared.path, WORKTREE, "own.txt"), "own\n");
  for (const [path, text] of Object.entries(ASTRAY))
    if (text === undefined) rmSync(join(prepared.path, path));
    else project.write(path, text);
  project.git("add", "src/new.ts");
}, 120_000);

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const git = (repository: TemporaryRepository, ...args: string[]) =>
  execFileSync("git", args, { cwd: repository.path, env: repository.env, encoding: "utf8", stdio: "pipe" });

function copyOf(name: string): TemporaryRepository {
  const copy = copyRepository(prepared, join(root, name, "my project"));
  writeFileSync(join(copy.path, WORKTREE, ".git"), `gitdir: ${join(copy.path, GIT_DIR)}\n`);
  writeFileSync(join(copy.path, GIT_DIR, "gitdir"), `${join(copy.path, WORKTREE, ".git")}\n`);
  return copy;
}

const textAt = (folder: string, path: string) =>
  existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8") : undefined;

/** The change is in the main checkout as it was, or it is in the worktree and a ref keeps it. */
function expectNothingLost(copy: TemporaryRepository, when: string): void {
  const refs = git(copy, "for-each-ref", "--format=%(refname)", "refs/pawl/rescued").trim().split("\n");
  for (const [path, text] of Object.entries(ASTRAY)) {
    if (textAt(copy.path, path) === text) continue;
    expect(textAt(join(copy.path, WORKTREE), path), `${path} ${when}`).toBe(text);
    const kept = refs.some((ref) => {
      const names = git(copy, "ls-tree", "-r", "--name-only", ref).split("\n");
      return text === undefined
        ? !names.includes(path)
        : names.includes(path) && git(copy, "show", `${ref}:${path}`) === text;
    });
    expect(kept, `${path} ${when}`).toBe(true);
  }
  expect(textAt(join(copy.path, WORKTREE), "own.txt"), when).toBe("own\n");
}

testKills("nothing is lost, and the next rescue completes it, once", {
  decided: "rescue ref",
  async kill(choose) {
    const steps = (await runJob(worker, copyOf("whole"), CALL))?.steps ?? [];
    const own = steps.filter((name) => name.startsWith("rescue "));
    expect(own.filter((name) => name === "rescue write file").length).toBeGreaterThanOrEqual(3);
    expect(own).toEqual(
      expect.arrayContaining(["rescue tree", "rescue ref", "rescue remove file", "rescue index"]),
    );
    // The steps of the records have their own tests.
    for (const { n, name } of choose(momentsOf(steps), (one) => /^(?:rescue|snapshot) /.test(one.name))) {
      const copy = copyOf(`copy ${n}`);
      const when = `killed at ${n} ${name}`;
      expect(await runJob(worker, copy, { ...CALL, killAtStep: n }), when).toBeUndefined();
      expectNothingLost(copy, when);
      const again = await runHere(copy, CALL);
      expect(again, `${when}: ${JSON.stringify(again)}`).toMatchObject({ ok: true });
      expect(git(copy, "status", "--porcelain"), when).toBe("");
      for (const [path, text] of Object.entries(ASTRAY))
        expect(textAt(join(copy.path, WORKTREE), path), `${path} ${when}`).toBe(text);
      expectNothingLost(copy, when);
      const decisions = execFileSync("ls", [join(stateOf(copy), "tasks/T0001/decisions")], {
        encoding: "utf8",
      });
      expect(decisions.trim().split("\n").length, when).toBeLessThanOrEqual(2);
      rmSync(join(copy.path, ".."), { recursive: true, force: true });
    }
  },
});
