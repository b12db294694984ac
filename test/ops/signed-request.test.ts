// @module-tag proof
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addPart, change } from "../../src/judge/change.ts";
import { evidence } from "../../src/model/records/parts.ts";
import { type Approval, approval } from "../../src/model/records/run.ts";
import { requestStatement } from "../../src/model/statement.ts";
import { digestOf } from "../../src/signatures/verify.ts";
import { type Audit, auditIn, handsOf } from "../helpers/audited-project.ts";
import { openProject } from "../helpers/command-line.ts";
import { gitIn, ok } from "../helpers/ready-task.ts";
import {
  copySigned,
  makeSigned,
  PLAIN_KEY,
  publish,
  type SignedProject,
  TOUCH_KEY,
} from "../helpers/signed-project.ts";
import { hasAuthenticator, makeKey, sign, type TestKey } from "../helpers/ssh-keys.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const POLICY = "profile: light\napprovals: signed\nlevel: possession\nrecheck: false\n";
const BRANCH = "task/T0002-one";
const lines = (changed: Record<number, string> = {}) =>
  Array.from({ length: 20 }, (_, index) => `${changed[index] ?? `line ${index}`}\n`).join("");

let folder: string;
/** With a task that may be requested at once, and the same once Ada has signed and published that. */
let unsigned: SignedProject;
let project: SignedProject;
/** A key that nobody enrolled. */
let eve: TestKey;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("signed request");
  unsigned = await makeSigned(join(folder, "first"), POLICY);
  eve = makeKey(folder, "eve", PLAIN_KEY);
  await unsigned.ready("text", "text.txt", lines());
  await ok(unsigned.types("T0001", "approve", "T1", "--finish"));
  await publish(unsigned);
  const worktree = await unsigned.ready("one", "text.txt", lines({ 2: "changed" }));
  writeFileSync(join(worktree, "second.txt"), "second\n");
  unsigned.git("-C", worktree, "add", ".");
  unsigned.git("-C", worktree, "commit", "-q", "-m", "a second commit");
  await ok(unsigned.home.pawlIn(worktree, {}, "verify", "--", "test", "-d", "."));
  await publish(unsigned);
  project = fresh(unsigned);
  await ok(project.types("T0002", "pr", "T2", "--sign"));
  await publish(project);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = (from = project) => copySigned(from, join(folder, `copy ${++copies}`));

/** What the host does, past every hook of ours; answers the protected branch's new tip. */
function host(it: SignedProject, act: (git: (...args: string[]) => string, path: string) => void): string {
  const path = join(it.root, `host ${++copies}`);
  gitIn(it, it.root, "clone", "-q", it.remote, path);
  const git = (...args: string[]) => gitIn(it, path, ...args);
  act(git, path);
  git("push", "-q", "origin", "main");
  return git("rev-parse", "main");
}
const merge = (it: SignedProject) =>
  host(it, (git) => git("merge", "-q", "--no-ff", "-m", "Merge pull request #1", `origin/${BRANCH}`));
const squash = (it: SignedProject) =>
  host(it, (git) => {
    git("merge", "-q", "--squash", `origin/${BRANCH}`);
    git("commit", "-q", "-m", "One (#1)");
  });

/** Somebody else's approved change of the same file, which the request knows nothing of. */
async function moveBase(it: SignedProject): Promise<void> {
  await it.ready("other", "text.txt", lines({ 15: "other" }));
  await ok(it.types("T0003", "approve", "T3"));
  await publish(it);
}

const reasonsOf = ({ result }: Audit) =>
  result.json.data.audit.branches.flatMap((one: { commits: { reason?: string; message?: string }[] }) =>
    one.commits.flatMap(({ message }) => message ?? []),
  );

/** Both audits, of the clone that pulled and of a bare clone without a network, say the same. */
async function audits(it: SignedProject): Promise<Audit> {
  it.git("pull", "-q", "--ff-only");
  const [ci, here] = [await it.ci(), await it.audit()];
  expect([here.code, here.counts.pull_request]).toEqual([ci.code, ci.counts.pull_request]);
  return ci;
}

async function expectExplained(it: SignedProject): Promise<void> {
  const ci = await audits(it);
  expect([ci.code, ci.reasons, ci.findings]).toEqual([0, [], []]);
  const [branch] = ci.result.json.data.audit.branches;
  expect(branch.commits[0]).toMatchObject({
    ...{ class: "pull_request", by: "T0002/A1" },
    signed: { name: "Ada", key: "ada", level: "possession" },
  });
}

async function expectNot(it: SignedProject, why: RegExp): Promise<void> {
  const ci = await audits(it);
  expect([ci.code, ci.counts.pull_request]).toEqual([1, 0]);
  expect(reasonsOf(ci).join("\n")).toMatch(why);
}

/** What a server's hook asks before the branch moves. */
async function received(it: SignedProject, old: string, fresh: string): Promise<Audit> {
  const path = join(it.root, `server ${++copies}.git`);
  cpSync(it.remote, path, { recursive: true });
  gitIn(it, path, "update-ref", "refs/heads/main", old);
  writeFileSync(join(path, "updates"), `${old} ${fresh} refs/heads/main\n`);
  return auditIn(openProject({ path, env: it.env }), "--ci", "--updates", "updates");
}

describe("pawl pr --sign", () => {
  test("asks for the task's id, signs what is requested, keeps it and pushes the branch", async () => {
    const it = fresh(unsigned);
    const plain = await ok(it.home.pawl("pr", "T2", "--json"));
    expect(plain.json.warnings).toEqual([expect.stringContaining("pawl pr T0002 --sign")]);
    const done = await ok(it.types("T0002", "pr", "T2", "--sign"));
    expect(done.err).toContain("The diff of shop:");
    const head = it.git("rev-parse", BRANCH);
    expect(done.json.data.request.signed).toMatchObject({
      ...{ id: "T0002/A1", status: "requested", how: "signed by Ada with ada (possession)" },
      repos: [{ ref: "refs/heads/main", head, tree: it.git("rev-parse", `${head}^{tree}`) }],
    });
    expect(gitIn(it, it.remote, "rev-parse", BRANCH)).toBe(head);
    expect([done.json.warnings, (await ok(it.home.pawl("pr", "T2", "--json"))).json.warnings]).toEqual([
      [],
      [],
    ]);
    expect((await it.audit()).code).toBe(0);
  });

  test("is refused to agents, to pipes, to other words, to other keys and to what is not ready", async () => {
    const it = fresh(unsigned);
    const code = async (result: ReturnType<SignedProject["types"]>) => (await result).json.error.code;
    const agent = { typed: "T0002", env: { CLAUDECODE: "1" } };
    expect(await code(it.typesWith(agent, "pr", "T2", "--sign"))).toBe("human_only");
    expect(await code(it.home.pawl("pr", "T2", "--sign", "--json"))).toBe("no_terminal");
    expect(await code(it.types("yes", "pr", "T2", "--sign"))).toBe("not_confirmed");
    expect(await code(it.types("T0002", "pr", "T2", "--sign-with", eve.file))).toBe("bad_signature");
    expect(await code(it.types("T0002", "pr", "T2", "--sign", "--text"))).toBe("sign_or_text");
    await it.ready("loosen", ".pawl/config.yaml", "profile: light\n");
    expect(await code(it.types("T0003", "pr", "T3", "--sign"))).toBe("policy_changed");
    it.home.write(".worktrees/T0002-one/text.txt", "not committed\n");
    expect(await code(it.types("T0002", "pr", "T2", "--sign"))).toBe("dirty_worktree");
    expect(it.git("ls-remote", "origin", BRANCH)).toBe("");
  });
});

describe("a signed request explains", () => {
  test("the host's merge, once: here, in a bare clone and on the server", async () => {
    const it = fresh();
    const old = it.git("rev-parse", "main");
    const tip = merge(it);
    expect(await received(it, old, tip)).toMatchObject({ code: 0, counts: { pull_request: 1 } });
    await expectExplained(it);
    await ok(it.home.pawl("finish", "T2", "--remove", "--reason", "merged"));
    await publish(it);
    expect([(await it.audit()).code, (await it.ci()).code]).toEqual([0, 0]);
  });

  test("the host's squash", async () => {
    const it = fresh();
    squash(it);
    await expectExplained(it);
  });

  test.each([
    ["merge", merge],
    ["squash", squash],
  ])("a %s on a base that moved, by the tree that git makes of both", async (_style, press) => {
    const it = fresh();
    await moveBase(it);
    press(it);
    await expectExplained(it);
  });
});

describe("a signed request does not explain", () => {
  test("a squash where the requested commit is missing, and the audit says so; once it is fetched, it does", async () => {
    const it = fresh();
    const head = it.git("rev-parse", BRANCH);
    squash(it);
    gitIn(it, it.remote, "branch", "-qD", BRANCH);
    const path = join(it.root, "clone.git");
    gitIn(it, it.root, "clone", "-q", "--bare", "--no-local", it.remote, path);
    const ci = () => auditIn(openProject({ path, env: it.env }), "--ci");
    const without = await ci();
    expect([without.code, without.reasons]).toEqual([1, ["not_signed"]]);
    expect(reasonsOf(without)).toEqual([
      `T0002/A1 asks for it, but its commit ${head.slice(0, 12)} is not here; fetch it.`,
    ]);
    gitIn(it, path, "fetch", "-q", "origin", head);
    expect(await ci()).toMatchObject({ code: 0, counts: { pull_request: 1 } });
  });

  test("a merge or a squash with another tree, whatever driver this clone has for merges", async () => {
    const it = fresh();
    await moveBase(it);
    host(it, (git, path) => {
      git("merge", "-q", "--no-ff", "--no-commit", `origin/${BRANCH}`);
      writeFileSync(join(path, "text.txt"), "evil\n");
      git("add", ".");
      git("commit", "-q", "-m", "Merge pull request #1");
    });
    it.git("config", "merge.evil.driver", "echo evil >%A");
    writeFileSync(join(it.home.path, ".git/info/attributes"), "* merge=evil\n");
    await expectNot(it, /T0002\/A1 asks for it, but its content is not what merging [0-9a-f]{12} gives/);
    const other = fresh();
    host(other, (git, path) => {
      git("merge", "-q", "--squash", `origin/${BRANCH}`);
      writeFileSync(join(path, "evil.txt"), "evil\n");
      git("add", ".");
      git("commit", "-q", "-m", "One (#1)");
    });
    await expectNot(other, /./);
  });

  test.each([false, true])("a rebase, or a fast-forward (the base moved: %s)", async (moved) => {
    const it = fresh();
    if (moved) await moveBase(it);
    host(it, (git) => {
      git("checkout", "-q", "-b", "rebased", `origin/${BRANCH}`);
      git("rebase", "-q", "main");
      git("checkout", "-q", "main");
      git("merge", "-q", "--ff-only", "rebased");
    });
    const ci = await audits(it);
    expect(ci.code).toBe(1);
    expect(ci.counts.unexplained).toBeGreaterThan(0);
  });

  test("a merge of another head with the same tree", async () => {
    const it = fresh();
    host(it, (git) => {
      git("checkout", "-q", "-b", "further", `origin/${BRANCH}`);
      git("commit", "-q", "--allow-empty", "-m", "one more");
      git("checkout", "-q", "main");
      git("merge", "-q", "--no-ff", "-m", "Merge pull request #1", "further");
    });
    await expectNot(it, /Nobody approved it/);
  });

  test("a second commit, also not under a copy of its record, nor for a server that asks for the last one alone", async () => {
    const it = fresh();
    squash(it);
    const reverted = host(it, (git) => git("revert", "--no-edit", "HEAD"));
    const again = squash(it);
    await forge(it, (one) => one);
    await publishRecords(it);
    const ci = await audits(it);
    expect([ci.code, ci.counts.pull_request, ci.counts.unexplained]).toEqual([1, 1, 2]);
    expect(ci.result.json.data.audit.branches[0].commits[2].class).toBe("pull_request");
    expect(await received(it, reverted, again)).toMatchObject({ code: 1, counts: { pull_request: 0 } });
  });

  test("what somebody without an enrolled key signed, or what was signed for something else", async () => {
    for (const about of ["eve", "receipt", "ref"] as const) {
      const it = fresh(unsigned);
      await ok(it.types("T0002", "pr", "T2", "--sign"));
      await forge(
        it,
        (one) => {
          if (about === "receipt") return { ...one, receipt: "0".repeat(64) };
          if (about === "ref")
            return { ...one, repos: one.repos.map((each) => ({ ...each, ref: "refs/heads/x" })) };
          const ssh = sign(eve, digestOf(requestStatement(one)));
          return { ...one, signatures: one.signatures.map((each) => ({ ...each, ssh })) };
        },
        "in place",
      );
      await publish(it);
      merge(it);
      await expectNot(it, about === "ref" ? /./ : /the signature of the request is invalid/);
    }
  });

  // Somebody has to be able to sign at the higher level, or the policy is refused.
  test.runIf(hasAuthenticator())(
    "what a key of a lower level signed than the branch wants by then",
    async () => {
      const it = fresh();
      const touch = makeKey(folder, "touch", TOUCH_KEY);
      await ok(
        it.types("touch", "approver", "add", "--name", "Ada", "--as", "touch", "--ssh", `${touch.file}.pub`),
      );
      await it.ready("stricter", ".pawl/config.yaml", POLICY.replace("possession", "present"));
      await ok(it.types("T0003", "approve", "T3"));
      await publish(it);
      merge(it);
      await expectNot(it, /the signature of the request is invalid/);
    },
  );

  test("a merge that brings another policy or other keys along", async () => {
    const it = fresh();
    host(it, (git, path) => {
      git("merge", "-q", "--no-ff", "--no-commit", `origin/${BRANCH}`);
      writeFileSync(join(path, ".pawl/config.yaml"), "profile: light\n");
      git("add", ".");
      git("commit", "-q", "-m", "Merge pull request #1");
    });
    await expectNot(it, /its change of the policy is not signed/);
  });
});

test("what a merged request rests on is what was signed, though the task was checked again before the merge", async () => {
  const it = fresh();
  const worktree = join(it.home.path, ".worktrees/T0002-one");
  await ok(it.home.pawlIn(worktree, {}, "verify", "--", "test", "-d", "."));
  await ok(it.home.pawl("check", "T2", "--stage", "close"));
  await publishRecords(it);
  squash(it);
  await expectExplained(it);
  const stored = (await handsOf(it.home).look((reader) => reader.parts(evidence, "T0002").records))[0];
  if (!stored) throw new Error("there is no evidence");
  await handsOf(it.home).record((_reader, at) => ({
    data: undefined,
    effects: [change(evidence, stored, { exit_code: 1 }, at, "it failed").effect],
  }));
  await publishRecords(it);
  const ci = await it.ci();
  expect([ci.code, ci.findings]).toEqual([1, ["receipt_altered"]]);
});

const publishRecords = (it: SignedProject) => ok(it.home.pawl("sync", "--yes"));

/** What a pawl does that somebody has changed: the record is another one, or there is a second, and the events tell of it. */
async function forge(
  it: SignedProject,
  made: (one: Approval) => Approval,
  where: "in place" | "beside" = "beside",
): Promise<void> {
  await handsOf(it.home).record((reader, at) => {
    const stored = reader.part(approval, "T0002", "A1");
    const value = made(stored.value);
    const names = reader.partNames(approval, "T0002");
    const { effect } =
      where === "in place"
        ? change(approval, stored, value, at, "forged")
        : addPart(approval, "T0002", names, (id) => ({ ...value, id }), "forged");
    return { data: undefined, effects: [effect] };
  });
}
