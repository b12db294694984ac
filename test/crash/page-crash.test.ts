// @module-tag proof
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { APPROVERS, openDeciding } from "../../src/web/deciding.ts";
import { openTerminal } from "../../src/web/terminal.ts";
import { expectTruth, goOn, recordOf } from "../helpers/approval-truth.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import type { Project } from "../helpers/command-line.ts";
import { each, type Moment, momentsOf, testKills } from "../helpers/kills.ts";
import { copyReady, inspect, makeReady, type Ready } from "../helpers/ready-task.ts";
import {
  copySigned,
  makePublished,
  readyInBoth,
  type SignedProject,
  withApi,
} from "../helpers/signed-project.ts";
import { answer, makePasskey } from "../helpers/software-passkey.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

/** What was approved on the page is what `pawl approve` does: killed anywhere, the next command leaves all of it or nothing. */
let folder: string;
let worker: string;
const prepared = new Map<1 | 2, Ready>();
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("page crash");
  const entry = fileURLToPath(new URL("../helpers/page-worker.ts", import.meta.url));
  worker = await bundleProgram(entry, folder, "worker");
  for (const count of [1, 2] as const)
    prepared.set(count, await makeReady(join(folder, `ready ${count}`), count));
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = (count: 1 | 2 = 1) => copyReady(prepared.get(count) as Ready, join(folder, `copy ${++copies}`));
const job = (ready: Ready, typed: string, killAtStep?: number) =>
  runJob(worker, ready.repos[0] as never, { typed, killAtStep } as never) as Promise<unknown>;

test("a yes on the terminal merges, anything else does not", async () => {
  const [yes, no] = [fresh(), fresh()];
  expect(await job(no, "yes")).toMatchObject({ status: 303, state: "refused" });
  expect(inspect(no, "main worktree")).toEqual({ merged: false, complaints: [] });
  expect(await job(yes, "T0001")).toMatchObject({ status: 303, state: "done" });
  expect(inspect(yes, "main worktree")).toEqual({ merged: true, complaints: [] });
  expect(recordOf(yes, "approvals/A1.md")).toContain(
    'how: "typed T0001 on the terminal, asked from the page"\n',
  );
});

test("the page's own word merges nothing where nobody has to sign", async () => {
  const ready = fresh();
  const nobody = { isTerminal: true, write: () => {}, onLine: () => {}, onEnter: () => {} };
  const terminal = openTerminal(nobody);
  const { path, env } = ready.repos[0] as Project;
  const around = { cwd: path, env, operations: [], oneShot: false, progress: () => {}, ask: terminal.ask };
  const { approve, underway } = openDeciding(around, terminal, () => {});
  approve("T0001", { push: false, byKey: true });
  await expect.poll(() => underway.of("T0001")?.state, { timeout: 30_000 }).toBe("refused");
  expect(underway.of("T0001")?.refusal?.code).toBe("not_signed");
  expect(inspect(ready, "main worktree")).toEqual({ merged: false, complaints: [] });
});

test("what was taken back on the page before its question came is not asked any more", async () => {
  const ready = fresh();
  let written = "";
  const terminal = openTerminal({
    isTerminal: true,
    write: (text) => {
      written += text;
    },
    onLine: () => {},
    onEnter: () => {},
  });
  const { path, env } = ready.repos[0] as Project;
  const around = { cwd: path, env, operations: [], oneShot: false, progress: () => {}, ask: terminal.ask };
  const { approve, underway } = openDeciding(around, terminal, () => {});
  approve("T0001", { push: false, byKey: false });
  await underway.withdraw("T0001");
  await expect.poll(() => underway.of("T0001")?.state, { timeout: 30_000 }).toBe("refused");
  expect(written).not.toContain("Type T0001");
  expect(inspect(ready, "main worktree")).toEqual({ merged: false, complaints: [] });
});

const isOfLock = ({ name }: Moment) => /^(?:look|create|confirm|decide|enter|release)/.test(name);

/** Every `nth` of the steps that move git or tell of it, and the last: the command itself is killed at every one. */
function usualOf(steps: readonly string[], nth: number): (moment: Moment) => boolean {
  const moves = momentsOf(steps).filter((one) => !isOfLock(one));
  const some = moves.filter((_, at) => at % nth === 0 || at === moves.length - 1).map(({ n }) => n);
  return ({ n }) => some.includes(n);
}

/** Before a certain step nothing is, from then on everything. */
function expectOneTurn(merged: readonly boolean[]): void {
  expect(merged).toEqual(merged.toSorted((one, other) => Number(one) - Number(other)));
  expect(new Set(merged).size).toBe(2);
}

for (const count of [1, 2] as const)
  testKills(`${count === 1 ? "one repository" : "two repositories"}: it is merged or not, never half`, {
    hasMore: true,
    async kill(choose) {
      const { steps } = (await job(fresh(count), "T0001")) as { steps: string[] };
      const merged: boolean[] = [];
      const moments = choose(momentsOf(steps), usualOf(steps, 6));
      await each(moments, async ({ name, n }) => {
        const ready = fresh(count);
        const context = `killed at step ${n}, ${name}`;
        expect(await job(ready, "T0001", n), context).toBeUndefined();
        await goOn(ready, context);
        merged[n] = expectTruth(ready, "main worktree", context);
        rmSync(ready.root, { recursive: true, force: true, maxRetries: 3 });
      });
      expectOneTurn(merged.flat());
    },
  });

describe("signed with a passkey", () => {
  const passkey = makePasskey("ES256");
  const secret = passkey.secret.export({ format: "pem", type: "pkcs8" });
  const { approver } = passkey;

  /** Enrolled on the page, by a browser that has this key and a human who types its name. */
  async function enrolIn({ home }: SignedProject, repo: string | undefined): Promise<void> {
    let hear: (line: string) => void = () => {};
    const terminal = openTerminal({
      isTerminal: true,
      write: (text) => void (text.startsWith("Type ") && setImmediate(() => hear(approver.key))),
      onLine: (listener) => {
        hear = listener;
      },
      onEnter: () => {},
    });
    const { path, env } = home;
    const around = { cwd: path, env, operations: [], oneShot: false, progress: () => {}, ask: terminal.ask };
    const { enrol, underway } = openDeciding(around, terminal, () => {});
    const { name, key: as, id, alg } = approver;
    enrol({ name, as, passkey: `${id}.${alg}.${approver.public}`, repo });
    const now = () => underway.of(APPROVERS);
    await vi.waitFor(() => expect(now()?.state).toBe("signing"), { timeout: 30_000 });
    const challenge = Buffer.from(now()?.request?.challenge ?? "", "base64url");
    underway.answer(APPROVERS, answer(passkey, challenge));
    await vi.waitFor(() => expect(now()?.state).toBe("done"), { timeout: 30_000 });
  }

  async function makeSignedReady(): Promise<SignedProject> {
    const home = await makePublished(join(folder, "signed"), "approvals: signed\nchecks: none\n");
    await enrolIn(home, undefined);
    const both = await withApi(home);
    await enrolIn(both, "api");
    await readyInBoth(both);
    return both;
  }

  const approve = (project: SignedProject, killAtStep?: number) =>
    runJob(worker, project.home, {
      typed: "",
      key: { approver, secret },
      killAtStep,
    } as never) as Promise<unknown>;
  const isMerged = (repo: Project) =>
    repo.git("log", "-1", "--format=%B", "main").includes("Pawl-Approval: ");

  // Two repositories do everything that one does.
  testKills("two repositories: it is merged and verified, or not begun", {
    hasMore: true,
    async kill(choose) {
      const signed = await makeSignedReady();
      const copy = () => copySigned(signed, join(folder, `signed copy ${++copies}`));
      const whole = (await approve(copy())) as { steps: string[]; state: string };
      expect(whole.state).toBe("done");
      const merged: boolean[] = [];
      const moments = choose(momentsOf(whole.steps), usualOf(whole.steps, 18));
      await each(moments, async ({ name, n }) => {
        const project = copy();
        const said = `killed at step ${n}, ${name}`;
        expect(await approve(project, n), said).toBeUndefined();
        expect((await project.home.pawl("note", "add", "the next command")).code, said).toBe(0);
        for (const repo of project.repos) expect(repo.git("status", "--porcelain", "-uno"), said).toBe("");
        // Whatever is on main is explained, by a signature that verifies.
        expect(await project.audit(), said).toMatchObject({ code: 0, findings: [] });
        const all = new Set(project.repos.map(isMerged));
        expect(all.size, said).toBe(1);
        merged[n] = all.has(true);
        rmSync(project.root, { recursive: true, force: true, maxRetries: 3 });
      });
      expectOneTurn(merged.flat());
    },
  });
});
