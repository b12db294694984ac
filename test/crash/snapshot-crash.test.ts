import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { makeRun } from "../helpers/hand-made-run.ts";
import { type Moment, momentsOf, testKills } from "../helpers/kills.ts";
import { runHere } from "../helpers/perform-job.ts";
import { copyReady, makeReady, type Ready, worktreeOf } from "../helpers/ready-task.ts";
import { complaintsOf, inspectStore } from "../helpers/store-verifier.ts";
import {
  askStateGit,
  copyRepository,
  makeRepository,
  makeTemporaryFolder,
  stateOf,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { OF_THE_LOCK, runJob } from "../helpers/worker-process.ts";

const REF = "refs/pawl/snapshots/T0001/R1";
const CALL = { operation: "snapshot", input: { task: "T0001" } };

let root: string;
let worker: string;
let prepared: TemporaryRepository;
let earlier: string;

beforeAll(async () => {
  root = makeTemporaryFolder("snapshot crash");
  worker = await bundleProgram(
    join(import.meta.dirname, "../helpers/operation-worker.ts"),
    join(root, "worker"),
    "worker",
  );
  prepared = makeRepository(root);
  const project = openProject(prepared);
  const work = await makeRun(project);
  work.write("first.txt", "only in the first snapshot\n");
  await project.pawl("snapshot", "T1");
  earlier = project.git("rev-parse", REF);
  rmSync(join(work.worktree, "first.txt"));
  work.write("tracked.txt", "committed\n");
  work.git("add", "-A");
  work.git("commit", "-q", "-m", "Work");
  work.write("README.md", "# Changed\n");
  work.write("untracked.txt", "the user's\n");
}, 120_000);

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const git = (repository: TemporaryRepository, ...args: string[]) =>
  execFileSync("git", args, {
    cwd: repository.path,
    env: repository.env,
    encoding: "utf8",
    stdio: "pipe",
  }).trim();

/** Under the same name, because the run's record knows its repository by it. */
function copyOf(name: string): TemporaryRepository {
  const copy = copyRepository(prepared, join(root, name, "my project"));
  // Both ends of the link between a worktree and its repository are absolute; git itself would find the original.
  const [worktree, gitDir] = [".worktrees/T0001-make-it-faster", ".git/worktrees/T0001-make-it-faster"];
  writeFileSync(join(copy.path, worktree, ".git"), `gitdir: ${join(copy.path, gitDir)}\n`);
  writeFileSync(join(copy.path, gitDir, "gitdir"), `${join(copy.path, worktree, ".git")}\n`);
  return copy;
}

function userFiles(repository: TemporaryRepository) {
  const worktree = join(repository.path, ".worktrees/T0001-make-it-faster");
  const gitDir = git(repository, "-C", worktree, "rev-parse", "--absolute-git-dir");
  const files = readdirSync(worktree).filter(
    (name) => statSync(join(worktree, name)).isFile() && name !== ".git",
  );
  return {
    files: files.map((name) => [name, readFileSync(join(worktree, name), "utf8")]),
    index: readFileSync(join(gitDir, "index"), "hex"),
    refs: git(repository, "for-each-ref", "refs/heads"),
    head: git(repository, "-C", worktree, "rev-parse", "HEAD"),
  };
}

/** The steps of the lock have their own tests, and so many that every kill here would be tried there. */
const isOurs = ({ name }: Moment) => !OF_THE_LOCK.includes(name);

testKills("the next snapshot is whole, the earlier one is kept", {
  decided: "apply attach",
  async kill(choose) {
    const whole = await runJob(worker, copyOf("whole"), CALL);
    const steps = whole?.steps ?? [];
    expect(steps.filter((name) => name.startsWith("snapshot "))).toEqual(
      ["tree", "commit", "ref", "patch"].map((name) => `snapshot ${name}`),
    );
    const outcomes: boolean[] = [];
    for (const { n } of choose(momentsOf(steps), isOurs)) {
      const copy = copyOf(`copy ${n}`);
      const before = userFiles(copy);
      expect(await runJob(worker, copy, { ...CALL, killAtStep: n })).toBeUndefined();
      expect(userFiles(copy)).toEqual(before);
      // Whatever was done so far, the earlier snapshot is still held.
      git(copy, "merge-base", "--is-ancestor", earlier, REF);
      const again = await runHere(copy, CALL);
      expect(again, JSON.stringify(again)).toMatchObject({ ok: true, warnings: [] });
      expect(userFiles(copy)).toEqual(before);
      const data = again.ok ? (again.data as unknown as Answered) : undefined;
      outcomes.push(data?.changed ?? false);
      expect(git(copy, "rev-parse", REF)).toBe(data?.snapshots[0]?.commit);
      expect(git(copy, "show", `${REF}:untracked.txt`)).toBe("the user's");
      git(copy, "merge-base", "--is-ancestor", earlier, REF);
      git(copy, "merge-base", "--is-ancestor", "task/T0001", REF);
      await expectRecovered(copy);
      rmSync(join(copy.path, ".."), { recursive: true, force: true });
    }
    // Early kills leave the work to the next call, late ones leave nothing to do.
    expect(new Set(outcomes)).toEqual(new Set([true, false]));
    expect([...outcomes].sort().reverse()).toEqual(outcomes);
  },
});

testKills("two repositories: both are saved by the next one, and no file of the user's changes", {
  decided: "apply attach",
  isVariant: true,
  async kill(choose) {
    const double = await makeReady(join(root, "double"), 2);
    for (const repo of double.repos) {
      writeFileSync(join(worktreeOf(repo), "README.md"), "# Changed after the first snapshot\n");
      writeFileSync(join(worktreeOf(repo), "untracked.txt"), "the user's\n");
    }
    const fresh = (name: string) => copyReady(double, join(root, name));
    const home = (ready: Ready) => ready.repos[0] as Project;
    const whole = fresh("both whole");
    const steps = (await runJob(worker, home(whole), CALL))?.steps ?? [];
    expect(steps.filter((name) => name === "snapshot ref")).toHaveLength(2);
    for (const { n, name } of choose(momentsOf(steps), isOurs)) {
      const ready = fresh(`both ${n}`);
      const look = () => ready.repos.map((repo) => filesOf(worktreeOf(repo)));
      const before = look();
      expect(await runJob(worker, home(ready), { ...CALL, killAtStep: n })).toBeUndefined();
      expect(look(), name).toEqual(before);
      expect(await runHere(home(ready), CALL), name).toMatchObject({ ok: true });
      expect(look(), name).toEqual(before);
      const run = readFileSync(join(stateOf(home(ready)), "tasks/T0001/runs/R1/run.md"), "utf8");
      for (const repo of ready.repos) {
        expect(repo.git("show", `${REF}:untracked.txt`), name).toBe("the user's");
        expect(run).toContain(repo.git("rev-parse", REF));
        const patch = readFileSync(
          join(stateOf(home(ready)), `tasks/T0001/runs/R1/${repo.path.split("/").at(-1)}.patch`),
        );
        expect(run).toContain(createHash("sha256").update(patch).digest("hex"));
      }
      rmSync(ready.root, { recursive: true, force: true });
    }
  },
});

function filesOf(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name !== ".git" && statSync(join(folder, name)).isFile())
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
}

interface Answered {
  snapshots: { commit: string }[];
  changed: boolean;
}

/** The next write finishes whatever the killed one had decided, and the state is committed. */
async function expectRecovered(copy: TemporaryRepository): Promise<void> {
  const next = { operation: "task.new", input: { title: "the next command" } };
  expect(await runHere(copy, next)).toMatchObject({ ok: true, warnings: [] });
  const { violations } = inspectStore(stateOf(copy));
  // Files that a kill left in the staging folder are swept by their age; a run's are not known to the verifier,
  // and each of its patches has an event beside the record's own.
  const leftOver = violations.leftOver.filter((path) => !/\.local\/tmp\//.test(path));
  const surplusEvents = violations.surplusEvents.filter((event) => !event.startsWith("T0001/R1@"));
  // The run itself was written by hand, without an event.
  const missingEvents = violations.missingEvents.filter((event) => event !== "T0001/R1@1");
  expect(complaintsOf({ ...violations, leftOver, surplusEvents, missingEvents })).toEqual({});
  expect(askStateGit(copy, "status", "--porcelain")).toBe("");
}
