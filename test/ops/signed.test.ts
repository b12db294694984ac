import { createHash } from "node:crypto";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lookForApproval } from "../../src/flows/approve/approve-candidate.ts";
import { type MadeMerges, makeMerges, mergeApproved } from "../../src/flows/approve/approve-merge.ts";
import type { SignedMerges } from "../../src/flows/approve/approve-sign.ts";
import { closeWithMoves, newUnlock } from "../../src/flows/audit/open-unlock.ts";
import { keyTextsAt, readKeys } from "../../src/flows/trust/read-keys.ts";
import { doubts } from "../../src/judge/audit/witnesses.ts";
import { change } from "../../src/judge/change.ts";
import { judgeMove } from "../../src/judge/keys.ts";
import { printApprovers, readApprovers } from "../../src/model/approvers.ts";
import { fullYaml } from "../../src/model/markdown/full-yaml.ts";
import { parseRecord } from "../../src/model/record.ts";
import { evidence } from "../../src/model/records/parts.ts";
import { approval, receipt } from "../../src/model/records/run.ts";
import type { RecordSignature } from "../../src/model/records/signed.ts";
import { type Unlock, unlock as unlockKind } from "../../src/model/records/unlock.ts";
import { approvalStatement, statementText } from "../../src/model/statement.ts";
import type { Effect, Situation } from "../../src/ports/operation.ts";
import type { Reader } from "../../src/ports/ports.ts";
import { digestOf } from "../../src/signatures/verify.ts";
import { type Audit, handsOf } from "../helpers/audited-project.ts";
import { openProject } from "../helpers/command-line.ts";
import { gitIn, ok, pressesCtrlC } from "../helpers/ready-task.ts";
import { copySigned, makeSigned, PLAIN_KEY, publish, type SignedProject } from "../helpers/signed-project.ts";
import { makeKey, sign, type TestKey } from "../helpers/ssh-keys.ts";
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";

const POLICY = "profile: light\napprovals: signed\nlevel: possession\n";

let folder: string;
let project: SignedProject;
/** A key that nobody enrolled. */
let eve: TestKey;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("signed");
  project = await makeSigned(join(folder, "first"), POLICY);
  eve = makeKey(folder, "eve", PLAIN_KEY);
  await project.ready("one");
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = (from = project) => copySigned(from, join(folder, `copy ${++copies}`));
const tip = (it: SignedProject) => it.git("rev-parse", "main");
const cleanIn = ({ result }: Audit) => result.json.error ?? result.json.data.audit.clean;

describe("an approval under `approvals: signed`", () => {
  test("is signed, checked and explained, here and in a bare clone without a network", async () => {
    const it = fresh();
    const done = await it.types("T0001", "approve", "T1");
    expect(done.json.error ?? done.code).toBe(0);
    expect(done.json.data.approval.how).toBe("signed by Ada with ada (possession)");
    expect(cleanIn(await it.audit())).toBe(true);
    await publish(it);
    const ci = await it.ci();
    expect(cleanIn(ci)).toBe(true);
    expect(ci.counts).toMatchObject({ approved: 1, unexplained: 0 });
    const [branch] = ci.result.json.data.audit.branches;
    expect(branch.commits[0].signed).toEqual({ name: "Ada", key: "ada", level: "possession" });
    expect((await it.home.pawl("task", "show", "T1")).out).toContain("signed by Ada with ada (possession)");
    const bare = await it.home.pawlIn(join(it.root, "ci 1.git"), {}, "audit", "--ci");
    expect(bare.out).toMatch(/1 approved \(1 signed\)/);
    expect(bare.out).toMatch(/keys since [0-9a-f]{12} \(unlocked by U0002\)/);
  });

  test("is refused to whoever types the id and has no key, or has one that nobody enrolled", async () => {
    const it = fresh();
    const before = tip(it);
    const other = await it.types("T0001", "approve", "T1", "--sign-with", eve.file);
    expect(other.json.error).toMatchObject({ code: "bad_signature", details: { why: "unknown_key" } });
    rmSync(join(it.root, ".ssh"), { recursive: true });
    const none = await it.types("T0001", "approve", "T1");
    expect(none.json.error).toMatchObject({ code: "no_key", details: { keys: ["ada"] } });
    const agent = await it.typesWith({ typed: "T0001", env: { CLAUDECODE: "1" } }, "approve", "T1");
    expect(agent.json.error.code).toBe("human_only");
    expect(tip(it)).toBe(before);
  });

  test("shows a long diff when d is typed, behind a bar and without the colours that it brings", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const rows = Array.from({ length: 100 }, (_, index) => `row ${index} \u001b[32mReceipt 0000\u001b[39m`);
    await it.ready("long", "long.txt", `${rows.join("\n")}\n`);
    let asked = 0;
    const said = {
      typed: "d",
      meanwhile: () => {
        if (++asked === 2) said.typed = "T0002";
      },
    };
    const done = await it.typesWith(said, "approve", "T2");
    expect([done.json.error, asked]).toEqual([undefined, 2]);
    expect(done.err).toContain("The diff of shop has 106 lines; press d to see it.");
    expect(done.err).toContain("  | +row 99 \ufffd[32mReceipt 0000\ufffd[39m\n");
    expect(done.err).not.toContain("\u001b");
  });

  test("is refused where the task leaves a policy that no command could read, such as a link", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    await it.ready("link", "shared.yaml", "approvals: signed\n");
    const worktree = join(it.home.path, ".worktrees/T0002-link");
    rmSync(join(worktree, ".pawl/config.yaml"));
    symlinkSync("../shared.yaml", join(worktree, ".pawl/config.yaml"));
    it.git("-C", worktree, "add", "-A");
    it.git("-C", worktree, "commit", "-q", "-m", "Share the settings");
    await ok(it.home.pawlIn(worktree, {}, "verify", "--", "test", "-d", "."));
    const done = await it.types("T0002", "approve", "T2");
    expect(done.json.error.code).toBe("policy_unreadable");
  });

  test("is refused where the task changes who may approve", async () => {
    const it = fresh();
    await it.ready("keys", ".pawl/approvers.yaml", listOf(it, eve));
    const done = await it.types("T0002", "approve", "T2");
    expect(done.json.error.code).toBe("approvers_changed");
  });

  test("of a merge that changes the policy takes a signature for that as well, and the next one follows it", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    await it.ready("loosen", ".pawl/config.yaml", "profile: light\n");
    const done = await it.types("T0002", "approve", "T2");
    expect(done.json.error ?? done.code).toBe(0);
    expect(done.err).toContain("! It changes the policy of shop, .pawl/config.yaml.");
    const { signatures } = done.json.data.approval;
    expect(signatures.map((one: RecordSignature) => one.about)).toEqual(["approval", "policy"]);
    await ok(it.home.pawl("refresh", "T1"));
    await ok(
      it.home.pawlIn(join(it.home.path, ".worktrees/T0001-one"), {}, "verify", "--", "test", "-d", "."),
    );
    await ok(it.home.pawl("snapshot", "T1"));
    await ok(it.home.pawl("check", "T1", "--stage", "close"));
    const next = await it.types("T0001", "approve", "T1");
    expect(next.json.data.approval.how).toBe("typed T0001 on the terminal");
    await publish(it);
    expect(cleanIn(await it.ci())).toBe(true);
  });
});

const listOf = (it: SignedProject, ...keys: TestKey[]) => {
  const { repository } = readApprovers("", it.git("show", "main:.pawl/approvers.yaml"), undefined);
  return printApprovers({ repository, approvers: keys.map((one) => one.approver) });
};

test("every byte of an approval's record counts: by its signature, and all of them by the event", async () => {
  const it = fresh();
  await ok(it.types("T0001", "approve", "T1"));
  const path = "tasks/T0001/approvals/A1.md";
  const bytes = Buffer.from(it.home.read(path));
  const hands = handsOf(it.home);
  const events = hands.reader().events({ limit: 1000, about: (one) => one === path });
  const audits = await hands.git.audits();
  const site = (await hands.git.sites()).here();
  const keys = async (commit: string) => readKeys(hands, await keyTextsAt(audits, site, commit));
  const [before, after] = [await keys("main~1"), await keys("main")];
  const { check } = await hands.signatures();
  const judged = (text: string) => {
    const { uid = "", receipt, repos, signatures } = parseRecord(approval, path, text, fullYaml).value;
    const [{ ref = "", old = "", new: fresh = "" } = {}] = repos;
    const statement = approvalStatement({ uid, receipt, repos });
    const move = { ref, old, new: fresh, uid, signatures, approval: statement };
    return { statement: statementText(statement), ...judgeMove(move, before, after, check) };
  };
  const right = judged(bytes.toString());
  expect(right).toMatchObject({ ok: true, by: { key: "ada" } });
  let covered = 0;
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 1;
    const digest = createHash("sha256").update(changed).digest("hex");
    expect(doubts(new Map([[path, digest]]), events), `byte ${at}`).toContainEqual({ path, why: "changed" });
    try {
      const found = judged(changed.toString());
      if (found.ok) expect(found.statement, `byte ${at}`).toBe(right.statement);
      else covered++;
    } catch (error) {
      expect((error as Error).message, `byte ${at}`).toContain("approval");
      covered++;
    }
  }
  expect(covered).toBeGreaterThan(bytes.length / 2);
});

type Forged = (made: MadeMerges, receipt: string) => Partial<SignedMerges>;

/** What a pawl does that somebody has changed: every record, event, commit and journal is right, but for the signature. */
async function forge(it: SignedProject, task: string, forged: Forged): Promise<void> {
  const hands = handsOf(it.home);
  const number = `T000${task.slice(1)}`;
  const { task: found, receipt, repos } = await lookForApproval(hands, number, { fetch: false, push: false });
  const merges = repos.map(({ site, base_branch, base, head, tree, style }) => ({
    ...{ site, base_branch, old: base, onto: base, head, tree, style },
  }));
  const approved = { task: found, receipt, summary: "", redoOf: undefined, merges };
  const made = await makeMerges(hands, approved);
  const plain = { repos: made.repos.map((one) => one.repo), uid: undefined, signatures: [], fromPage: false };
  const signed = { ...plain, ...forged(made, receipt) };
  await (await hands.git.merges()).exclusively(() => mergeApproved(hands, approved, made, signed));
}

const signature = (about: RecordSignature["about"], ssh: string): RecordSignature => ({
  ...{ about, repo: undefined, name: "Ada", key: "ada", level: "present", ssh, passkey: undefined },
});

const UID = "0123abcd".repeat(4);

/** Signs the approval as it is made, with any key. */
const signedBy =
  (key: TestKey, id: string | undefined, about: (made: MadeMerges) => MadeMerges = (made) => made): Forged =>
  (made, receipt) => {
    const repos = made.repos.map((one) => ({ ...one.repo, id }));
    const meant = about(made).repos.map((one) => ({ ...one.repo, id }));
    const ssh = sign(key, digestOf(approvalStatement({ uid: UID, receipt, repos: meant })));
    return { repos, uid: UID, signatures: [signature("approval", ssh)] };
  };

const idOf = (it: SignedProject) =>
  readApprovers("", it.git("show", "main:.pawl/approvers.yaml"), undefined).repository;

describe("a forged approval is found by CI, in a bare clone without a network:", () => {
  /** Published past every hook: whoever forges may push. */
  async function found(it: SignedProject): Promise<Audit> {
    await publish(it);
    const [ci, local] = [await it.ci(), await it.audit("--offline")];
    expect(local.code).toBe(1);
    expect(ci.code).toBe(1);
    return ci;
  }
  const reasons = async (it: SignedProject) => (await found(it)).reasons;

  test("what was only typed on a terminal (a pseudo-terminal with a scrubbed environment)", async () => {
    const it = fresh();
    await forge(it, "T1", () => ({}));
    expect(await reasons(it)).toEqual(["not_signed"]);
  });

  test("what was signed with a key that is not enrolled", async () => {
    const it = fresh();
    await forge(it, "T1", signedBy(eve, idOf(it)));
    expect(await reasons(it)).toEqual(["not_signed"]);
  });

  test("what brings its own keys along, and everything that rests on them", { tags: ["proof"] }, async () => {
    const it = fresh();
    const worktree = join(it.home.path, ".worktrees/T0001-one");
    const own = listOf(it, eve);
    writeFileSync(join(worktree, ".pawl/approvers.yaml"), own);
    gitIn(it, worktree, "commit", "-q", "-am", "Also me");
    // The gate of a changed pawl lets everything through.
    const commit = gitIn(it, worktree, "rev-parse", "HEAD");
    it.git("merge", "-q", "--ff-only", commit);
    await publish(it);
    const ci = await it.ci();
    expect(ci.code).toBe(1);
    expect(ci.counts).toMatchObject({ unexplained: 2, approved: 0 });
  });

  test("another commit under the same signature", { tags: ["proof"] }, async () => {
    const it = fresh();
    const other = (made: MadeMerges): MadeMerges => ({
      ...made,
      repos: made.repos.map((one) => ({ ...one, repo: { ...one.repo, new: "e".repeat(40) } })),
    });
    await forge(it, "T1", signedBy(it.ada, idOf(it), other));
    expect(await reasons(it)).toEqual(["not_signed"]);
  });

  test("what was signed for another repository with the same keys", { tags: ["proof"] }, async () => {
    const it = fresh();
    await forge(it, "T1", signedBy(it.ada, "f".repeat(32)));
    expect(await reasons(it)).toEqual(["not_signed"]);
  });

  test("an earlier signature under a new record", { tags: ["proof"] }, async () => {
    const it = fresh();
    await ok(it.types("T0001", "approve", "T1"));
    await it.ready("two");
    const record = it.home.read("tasks/T0001/approvals/A1.md");
    const [, uid = ""] = /^uid: "?(\w+)/m.exec(record) ?? [];
    const [, ssh = ""] = /ssh: "?([\w+/=]+)/.exec(record) ?? [];
    expect([uid.length, ssh.length > 100]).toEqual([32, true]);
    await forge(it, "T2", ({ repos }) => ({
      ...{ repos: repos.map((one) => ({ ...one.repo, id: idOf(it) })), uid },
      signatures: [signature("approval", ssh)],
    }));
    expect(await reasons(it)).toEqual(["not_signed"]);
  });

  test("a downgrade of the policy, and nothing after it makes it good", { tags: ["proof"] }, async () => {
    const it = fresh();
    await it.ready("loosen", ".pawl/config.yaml", "profile: light\n");
    await forge(it, "T2", signedBy(it.ada, idOf(it)));
    await it.ready("later");
    await ok(it.types("T0003", "approve", "T3"));
    const ci = await found(it);
    expect(ci.reasons).toEqual(["not_signed"]);
    expect(ci.counts).toMatchObject({ approved: 1, unexplained: 1 });
    const [branch] = ci.result.json.data.audit.branches;
    expect(branch.commits.find((one: { reason?: string }) => one.reason)?.message).toContain(
      "its change of the policy is not signed",
    );
  });

  test("a record that says that the branch was unlocked from before the first key on", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const evil = it.home.commit("evil.txt", "evil\n");
    const root = it.git("rev-list", "--max-parents=0", "main");
    const hands = handsOf(it.home);
    const opening = {
      ref: "refs/heads/main",
      tip: root,
      until: "2026-01-01T00:00:00.000Z",
      reason: "",
      repo: "shop",
    };
    const { data } = await hands.record((reader, at) => newUnlock(reader, at, opening));
    await closeWithMoves(hands, data.unlock.id, [{ old: root, new: evil }]);
    await publish(it);
    const ci = await it.ci();
    expect(ci.code).toBe(1);
    expect(ci.reasons).toEqual(["not_signed"]);
  });
});

test("what was signed is compared with the receipt, the evidence and the names, however well these are rewritten", {
  tags: ["proof"],
}, async () => {
  const it = fresh();
  await ok(it.types("T0001", "approve", "T1"));
  /** As pawl would write it, with the event that tells of it. */
  const rewrite = (effect: (reader: Reader, at: Situation) => Effect) =>
    handsOf(it.home).record((reader, at) => ({ data: undefined, effects: [effect(reader, at)] }));
  const told = async () => {
    await publish(it);
    const { findings, reasons } = await it.ci();
    return [...findings, ...reasons];
  };
  expect(await told()).toEqual([]);
  const name = (one: RecordSignature) => ({ ...one, name: "Grace" });
  await rewrite((reader, at) => {
    const stored = reader.part(approval, "T0001", "A1");
    return change(approval, stored, { signatures: stored.value.signatures.map(name) }, at, "by Grace").effect;
  });
  expect(await told()).toEqual(["not_signed"]);
  await rewrite((reader, at) => {
    const stored = reader.part(approval, "T0001", "A1");
    const back = stored.value.signatures.map((one) => ({ ...one, name: "Ada" }));
    const how = "signed by Grace with ada (possession)";
    return change(approval, stored, { signatures: back, how }, at, "by Grace").effect;
  });
  expect(await told()).toEqual(["not_signed"]);
  await rewrite((reader, at) => {
    const stored = reader.part(approval, "T0001", "A1");
    return change(approval, stored, { how: "signed by Ada with ada (possession)" }, at, "by Ada").effect;
  });
  await rewrite((reader, at) => {
    const stored = reader.part(evidence, "T0001", "E1");
    return change(evidence, stored, { exit_code: 1 }, at, "it failed").effect;
  });
  expect(await told()).toEqual(["receipt_altered"]);
  await rewrite((reader, at) => {
    const stored = reader.receipt("T0001");
    if (!stored) throw new Error("there is no receipt");
    return change(receipt, stored, { records: "0".repeat(64) }, at, "another receipt").effect;
  });
  expect(await told()).toEqual(["receipt_altered"]);
});

test("a receipt that was damaged after it was signed is never explained", { tags: ["proof"] }, async () => {
  const it = fresh();
  await ok(it.types("T0001", "approve", "T1"));
  const file = join(stateOf(it.home), "tasks/T0001/receipt.md");
  const whole = readFileSync(file, "utf8");
  for (const [text, code] of [
    ["", 2],
    [whole.slice(0, 150), 2],
    [whole.replace(/base: "?\w{40}"?/, `base: "${"0".repeat(40)}"`), 1],
  ] as const) {
    writeFileSync(file, text);
    await publish(it);
    expect((await it.ci()).code, text).toBe(code);
    expect((await it.audit("--offline")).code, text).toBe(code);
  }
  writeFileSync(file, whole);
  await publish(it);
  expect(cleanIn(await it.ci())).toBe(true);
});

test("whatever changed while the human read is told before a key is asked for", {
  tags: ["proof"],
}, async () => {
  const it = fresh();
  const worktree = join(
    it.home.path,
    it.git("worktree", "list", "--porcelain").match(/\.worktrees\/\S+/)?.[0] ?? "",
  );
  const main = it.git("rev-parse", "main");
  for (const [wanted, meanwhile] of [
    ["snapshot_missing", () => gitIn(it, worktree, "commit", "-q", "--allow-empty", "-m", "Later")],
    ["base_moved", () => it.home.commit("theirs.txt", "theirs\n")],
  ] as const) {
    const { code, json, err } = await it.typesWith({ typed: "T0001", meanwhile }, "approve", "T1");
    expect([code, json.error.code]).toEqual([1, wanted]);
    expect(err, wanted).not.toContain("Sign the approval.");
  }
  expect(it.git("rev-parse", "main~1")).toBe(main);
});

describe("an unlock under `approvals: signed`", () => {
  const unlock = (it: SignedProject, ...argv: string[]) => it.types("main", "unlock", "main", ...argv);

  test("is signed when it is opened, and explains what was signed when it was closed", async () => {
    const it = fresh();
    const eves = await unlock(it, "--for", "10m", "--sign-with", eve.file);
    expect(eves.json.error.details.why).toBe("unknown_key");
    const opened = await unlock(it, "--for", "10m");
    expect(opened.json.data.unlock.how).toBe("signed by Ada with ada (possession)");
    it.home.commit("fix.txt", "by hand\n");
    const meanwhile = await it.audit("--offline");
    expect(meanwhile.reasons).toEqual(["not_signed"]);
    const pushed = `refs/heads/main ${tip(it)} refs/heads/main ${it.git("rev-parse", "origin/main")}\n`;
    it.home.write(".git/updates", pushed);
    const refused = await it.home.pawl("hook", "pre-push", "--updates", ".git/updates", "--json");
    expect(refused.json.error.hint).toContain("pawl unlock main --end");
    const closed = await ok(unlock(it, "--end"));
    expect((await it.home.pawl("hook", "pre-push", "--updates", ".git/updates", "--json")).code).toBe(0);
    const about = closed.json.data.unlock.signatures.map((one: RecordSignature) => one.about);
    expect(about).toEqual(["unlock", "unlocked"]);
    await publish(it);
    expect(cleanIn(await it.ci())).toBe(true);
    expect(cleanIn(await it.audit())).toBe(true);
  });

  test("shows what came in before it is signed, and signs nothing when anything else is typed", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    await ok(unlock(it, "--for", "10m"));
    it.home.commit("evil.txt", "not by the human\n");
    const closed = await ok(it.types("no", "unlock", "main", "--end"));
    expect(closed.err).toMatch(
      /main went from \w{12} to \w{12}\. To read all of it: git diff[\s\S]*evil\.txt/,
    );
    expect(closed.json.data.unlock.status).toBe("closed");
    expect(closed.json.data.unlock.signatures.map((one: RecordSignature) => one.about)).toEqual(["unlock"]);
    await publish(it);
    expect((await it.ci()).reasons).toEqual(["not_signed"]);
  });

  test("is closed when somebody presses Ctrl-C at its last question, and reported as unsigned", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    await ok(unlock(it, "--for", "10m"));
    it.home.commit("fix.txt", "by hand\n");
    const stopped = await it.typesWith({ typed: pressesCtrlC }, "unlock", "main", "--end");
    expect([stopped.code, stopped.json.error.message]).toEqual([
      130,
      "Stopped; main is closed, but nothing is signed. To sign it: pawl unlock main --accept",
    ]);
    expect((await it.types("main", "unlock", "main", "--end")).json.error.code).toBe("not_open");
    expect((await it.audit("--offline")).reasons).toEqual(["not_signed"]);
    await ok(it.types("main", "unlock", "main", "--accept"));
    expect(cleanIn(await it.audit("--offline"))).toBe(true);
  });

  test("explains nothing when it ran out or an agent closed it, until a human signs what is there", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    await ok(unlock(it, "--for", "10m"));
    it.home.commit("fix.txt", "by hand\n");
    const agent = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s" };
    const closed = await it.home.pawlIn(it.home.path, agent, "unlock", "main", "--end", "--json");
    expect(closed.json.data.unlock).toMatchObject({ status: "closed", moves: [{ new: tip(it) }] });
    await publish(it);
    expect((await it.ci()).reasons).toEqual(["not_signed"]);
    const accepted = await ok(unlock(it, "--accept"));
    expect(accepted.json.data.unlock.how).toBe("signed by Ada with ada (possession)");
    await publish(it);
    expect(cleanIn(await it.ci())).toBe(true);
  });

  test("that somebody extends, or writes by hand, is reported", { tags: ["proof"] }, async () => {
    const it = fresh();
    const opened = await ok(unlock(it, "--for", "10m"));
    const { id, until } = opened.json.data.unlock;
    expect((await it.audit("--offline")).findings).toEqual([]);
    const later = new Date(Date.parse(until) + 3_600_000).toISOString();
    await changeUnlock(it, id, () => ({ until: later }));
    const grant = join(it.home.path, ".git/pawl/grants/unlock/refs/heads/main");
    writeFileSync(grant, `${Date.parse(later) / 1000} ${id}\n`);
    expect((await it.audit("--offline")).findings).toEqual(["forged_unlock"]);
  });

  test("of commits that change keys or policy has those changes signed as such", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    await ok(unlock(it, "--for", "10m"));
    it.home.commit(".pawl/config.yaml", "approvals: terminal\n");
    const closed = await ok(unlock(it, "--end"));
    const about = closed.json.data.unlock.signatures.map((one: RecordSignature) => one.about);
    expect(about).toEqual(["unlock", "policy"]);
    await publish(it);
    expect(cleanIn(await it.ci())).toBe(true);
  });
});

/** What somebody with a changed pawl writes, record and event alike. */
async function changeUnlock(it: SignedProject, id: string, changes: (one: Unlock) => Partial<Unlock>) {
  await handsOf(it.home).record((reader, at) => {
    const stored = reader.unlocks().records.find((one) => one.value.id === id);
    if (!stored) throw new Error("it is gone");
    return { data: {}, effects: [change(unlockKind, stored, changes(stored.value), at, "changed").effect] };
  });
}

describe("what else loosens", () => {
  test("uninstall and settling are signed, too", async () => {
    const it = fresh();
    rmSync(join(it.root, ".ssh"), { recursive: true });
    const out = await it.types("yes", "uninstall");
    expect(out.json.error.code).toBe("no_key");
    // What is not in conflict needs no choice, and no signature.
    const settled = await ok(it.types("", "sync", "--ours", "T1"));
    expect(settled.json.warnings.join()).toContain("T0001 was not in conflict");
    const piped = await it.home.pawl("uninstall", "--yes", "--json");
    expect(piped.json.error.code).toBe("no_terminal");
  });

  test("what was signed of a settlement is kept, and audits check and show it", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    await publish(it);
    it.git("clone", "-q", it.remote, join(it.root, "colleague"));
    const colleague = openProject({ path: join(it.root, "colleague"), env: it.env });
    await ok(colleague.pawl("sync", "--yes"));
    await ok(colleague.pawl("task", "update", "T1", "--title", "Theirs"));
    await ok(it.home.pawl("task", "update", "T1", "--title", "Ours"));
    await ok(colleague.pawl("sync", "--yes"));
    const eves = await it.types("T0001", "sync", "--ours", "T1", "--sign-with", eve.file);
    expect(eves.json.error.details.why).toBe("unknown_key");
    await ok(it.types("T0001", "sync", "--ours", "T1"));
    const ci = await it.ci();
    expect(cleanIn(ci)).toBe(true);
    expect(ci.result.json.data.audit.decided).toEqual([
      {
        record: expect.stringMatching(/^U\d{4}$/),
        what: "T0001 was kept as it is here",
        by: { name: "Ada", key: "ada", level: "possession" },
      },
    ]);
    const shown = await it.home.pawl("audit", "--offline");
    expect(shown.out).toMatch(/U\d{4}: T0001 was kept as it is here, signed by Ada with ada \(possession\)/);
    // The same signature under another choice, other states or another branch.
    const record = ci.result.json.data.audit.decided[0].record;
    for (const change of [{ keep_ours: ["T0002"] }, { ours: tip(it) }, { branches: [] }]) {
      const copy = fresh(it);
      await changeUnlock(copy, record, (one) => ({ decided: { ...one.decided, ...change } as never }));
      await ok(copy.home.pawl("sync", "--yes"));
      const found = await copy.ci();
      expect([found.code, found.findings], JSON.stringify(change)).toEqual([1, ["decision_not_signed"]]);
    }
    const bare = fresh(it);
    await changeUnlock(bare, record, () => ({ signatures: [] }));
    expect((await bare.audit("--offline")).findings).toEqual(["decision_not_signed"]);
  });

  test("what was signed of an uninstallation stays with the records", { tags: ["proof"] }, async () => {
    const it = fresh();
    await ok(it.types("yes", "uninstall"));
    const kept = await it.home.pawl("audit", "--offline", "--json");
    expect(kept.json.data.audit.decided).toMatchObject([
      { what: "pawl is removed from a clone of shop", by: { key: "ada" } },
    ]);
  });

  test("all keys are lost: every audit reports a new list without a signature, until a human pins it", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const add = ["approver", "add", "--name", "Ada", "--as", "again", "--ssh", `${eve.file}.pub`];
    rmSync(join(it.root, ".ssh"), { recursive: true });
    expect((await it.types("again", ...add)).json.error.code).toBe("no_key");
    const done = await ok(it.types("again", ...add, "--lost"));
    const root = tip(it);
    expect((await it.home.pawl("approver", "list")).out).toContain(
      `replaced without a signature (--lost) at ${root.slice(0, 12)}`,
    );
    expect(done.json.warnings.join()).toContain(`pawl audit --ci --root ${root}`);
    await publish(it);
    const ci = await it.ci();
    expect([ci.code, ci.reasons]).toEqual([1, ["not_signed"]]);
    const pinned = await it.ci("--root", root);
    expect(cleanIn(pinned)).toBe(true);
    expect((await it.audit("--root", root)).code).toBe(0);
    const elsewhere = await it.ci("--root", "e".repeat(40));
    expect(elsewhere.findings).toEqual(["root_missing"]);
    await ok(it.types("main", "unlock", "main", "--for", "1m", "--sign-with", eve.file));
  });
});
