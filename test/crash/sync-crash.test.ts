import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { type Moment, momentsOf, testKills } from "../helpers/kills.ts";
import { runHere } from "../helpers/perform-job.ts";
import { complaintsOf, inspectStore } from "../helpers/store-verifier.ts";
import {
  askStateGit,
  copyRepository,
  makeTemporaryFolder,
  stateGitDirOf,
  stateOf,
} from "../helpers/temporary-repository.ts";
import { expectContained, makeClones, stateTip } from "../helpers/two-clones.ts";
import { OF_THE_LOCK, runJob } from "../helpers/worker-process.ts";

const CALL = { operation: "sync", input: {} };

let root: string;
let worker: string;
let prepared: { ada: Project; ben: Project; remote: string };
let tips: { ada: string; ben: string };

beforeAll(async () => {
  root = makeTemporaryFolder("sync crash");
  worker = await bundleProgram(
    join(import.meta.dirname, "../helpers/operation-worker.ts"),
    join(root, "worker"),
    "worker",
  );
  const { ada, ben, clone, remote } = makeClones(root);
  clone("fresh");
  // Relative, so that all of them can be copied together.
  for (const project of [ada, ben]) project.git("remote", "set-url", "origin", "../the remote.git");
  execFileSync("git", ["remote", "set-url", "origin", "../the remote.git"], { cwd: join(root, "fresh") });
  await ada.pawl("task", "new", "Title", "--objective", "Do it");
  await ada.pawl("sync", "--yes");
  await ben.pawl("sync", "--yes");
  await ada.pawl("task", "update", "T1", "--title", "Ada's title");
  await ada.pawl("task", "new", "Made by Ada");
  await ada.pawl("sync", "--yes");
  await ben.pawl("task", "update", "T1", "--objective", "Ben's objective");
  await ben.pawl("note", "add", "Made by Ben");
  prepared = { ada, ben, remote };
  await ben.pawl("task", "update", "T1", "--label", "last");
  tips = { ada: stateTip(ada), ben: stateTip(ben) };
}, 120_000);

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

interface Copies {
  folder: string;
  ada: Project;
  /** The one that is killed. */
  other: Project;
}

function copyAll(name: string, other: string): Copies {
  const folder = join(root, name);
  const { ada, remote } = prepared;
  cpSync(remote, join(folder, "the remote.git"), { recursive: true });
  const copy = (project: string) =>
    openProject(copyRepository({ path: join(root, project), env: ada.env }, join(folder, project)));
  return { folder, ada: copy("my project"), other: copy(other) };
}

async function expectComplete({ ada, other }: Copies, byBen: boolean): Promise<void> {
  expect(await runHere(other, CALL)).toMatchObject({ ok: true, warnings: [] });
  expect((await ada.pawl("sync", "--yes", "--json")).json.ok).toBe(true);
  expect((await other.pawl("sync", "--yes", "--json")).json.ok).toBe(true);
  expect(stateTip(ada)).toBe(stateTip(other));
  for (const project of [ada, other]) {
    const { json } = await project.pawl("task", "show", "T1", "--json");
    expect(json.data.task).toMatchObject({
      title: "Ada's title",
      objective: byBen ? "Ben's objective" : "Do it",
      labels: byBen ? ["last"] : [],
    });
    const { out } = await project.pawl("task", "list");
    expect(out).toContain("Made by Ada");
    if (byBen) expect((await project.pawl("note", "list")).out).toContain("Made by Ben");
    expectContained(project, tips.ada);
    if (byBen) expectContained(project, tips.ben);
    expect(askStateGit(project, "status", "--porcelain")).toBe("");
  }
  const { violations } = inspectStore(stateOf(other));
  // What is unfinished waits in the staging folder until it is old, and a dead intent until the next write.
  const leftOver = violations.leftOver.filter((path) => !/^\.local\/(?:tmp|lock)\//.test(path));
  // Both clones told of T0001@2; the merged record has the rev above both.
  const surplusEvents = violations.surplusEvents.filter((event) => !event.startsWith("T0001@"));
  expect(complaintsOf({ ...violations, leftOver, surplusEvents })).toEqual({});
  execFileSync("git", ["--git-dir", stateGitDirOf(other), "fsck", "--strict"], { stdio: "pipe" });
}

describe("a sync: nothing is lost, and the next one goes on", () => {
  for (const [other, what, decided] of [
    ["ben s clone", "that brings, merges and sends", "journal"],
    ["fresh", "that fills a fresh clone", "sync ref"],
  ] as const)
    testKills(what, {
      decided,
      async kill(choose) {
        const whole = copyAll(`whole ${other}`, other);
        const report = await runJob(worker, whole.other, CALL);
        expect(report, JSON.stringify(report)).toMatchObject({ ok: true });
        const steps = report?.steps ?? [];
        // What follows the last step of a fresh clone is the end of the lock.
        const isUsual = ({ name, n }: Moment) => !OF_THE_LOCK.includes(name) || n === steps.length;
        for (const { n } of choose(momentsOf(steps), isUsual)) {
          const copies = copyAll(`${other} ${n}`, other);
          expect(await runJob(worker, copies.other, { ...CALL, killAtStep: n })).toBeUndefined();
          await expectComplete(copies, other !== "fresh");
          rmSync(copies.folder, { recursive: true, force: true });
        }
      },
    });
});
