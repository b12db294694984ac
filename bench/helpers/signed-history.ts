import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { join } from "node:path";
import { printApprovers } from "../../src/model/approvers.ts";
import { formatTaskId } from "../../src/model/ids.ts";
import { printRecord } from "../../src/model/record.ts";
import { type Evidence, evidence } from "../../src/model/records/parts.ts";
import {
  type Approval,
  approval,
  type Receipt,
  receipt,
  receiptText,
  repository,
  UNGUARDED,
} from "../../src/model/records/run.ts";
import { howOf } from "../../src/model/records/signed.ts";
import { approvalStatement, SSH_NAMESPACE } from "../../src/model/statement.ts";
import { digestOf } from "../../src/signatures/verify.ts";

const AT = "2026-11-16T10:00:00.000Z";
const REPOSITORY = "0123abcd".repeat(4);
const sha256 = (text: string | Buffer) => createHash("sha256").update(text).digest();
const hex = (text: string) => sha256(text).toString("hex");

interface Files {
  [path: string]: string;
}

/** A bare repository as a server has it: a branch of approved merges, and the records that explain them. */
export function makeHistory(folder: string, env: NodeJS.ProcessEnv, merges: number, signed: boolean): string {
  const repo = join(folder, signed ? "signed.git" : "unsigned.git");
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", repo], { env });
  const git = (args: string[], input?: string) =>
    execFileSync("git", args, {
      cwd: repo,
      env,
      encoding: "utf8",
      maxBuffer: 2 ** 30,
      ...(input ? { input } : {}),
    });
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const blob = sshKey(publicKey);
  git(["fast-import", "--quiet"], [...branch(merges, signed ? firstFiles(blob) : {})].join(""));
  const log = git(["log", "--first-parent", "--reverse", "--format=%H %T %P", "main"]);
  const [first, ...rows] = log
    .trim()
    .split("\n")
    .map((row) => row.split(" "));
  const seal = (value: Approval) => (signed ? withSignature(value, blob, privateKey) : value);
  const files = Object.assign({}, ...rows.map((row, index) => taskFiles(row, index + 1, seal)));
  git(["fast-import", "--quiet"], stateOf(first?.[0] ?? "", files));
  return repo;
}

function firstFiles(blob: Buffer): Files {
  const approver = { name: "Ada", key: "ada", kind: "ssh", level: "possession" } as const;
  const line = `ssh-ed25519 ${blob.toString("base64")}`;
  const none = { id: undefined, alg: undefined, rp: undefined };
  return {
    ".pawl/config.yaml": "approvals: signed\nlevel: possession\n",
    ".pawl/approvers.yaml": printApprovers({
      repository: REPOSITORY,
      approvers: [{ ...approver, public: line, ...none }],
    }),
  };
}

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
const put = (files: Files) =>
  Object.entries(files)
    .map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`)
    .join("");

function* branch(merges: number, files: Files): Generator<string> {
  const commit = (ref: string, mark: number, message: string, parents: string, changes: Files) =>
    `commit ${ref}\nmark :${mark}\ncommitter Ada <ada@example.com> ${1_700_000_000 + mark} +0000\n${data(message)}${parents}${put(changes)}\n`;
  yield commit("refs/heads/main", 1, "Begin", "", { ...files, "README.md": "# Bench\n" });
  for (let number = 1; number <= merges; number++) {
    const [base, work, merge] = [2 * number - 1, 2 * number, 2 * number + 1];
    const change = { [`src/file${number % 200}.ts`]: `export const value = ${number};\n` };
    yield commit("refs/heads/work", work, "Work", `from :${base}\n`, change);
    const message = `Merge\n\nPawl-Approval: ${formatTaskId(number)}/A1\n`;
    yield commit("refs/heads/main", merge, message, `from :${base}\nmerge :${work}\n`, change);
  }
}

/** A finished task as an audit reads it: the evidence, the receipt that names it, and the approval bound to that. */
function taskFiles(row: readonly string[], number: number, seal: (value: Approval) => Approval): Files {
  const task = formatTaskId(number);
  const [fresh = "", tree = "", old = "", head = ""] = row;
  const proof = printRecord(evidence, evidenceOf(task, head, tree));
  const proofPath = `tasks/${task}/evidence/E1.md`;
  const judged = {
    repos: [{ name: "bench", head, tree, base: old }],
    records: hex(task),
    proofs: [{ path: proofPath, sha256: hex(proof) }],
  };
  const digest = hex(receiptText(judged));
  const passed: Receipt = { id: `${task}/receipt`, stage: "close", ...judged, digest, ...made() };
  const merge = { old, new: fresh, head, tree, diff_sha256: "0".repeat(64), pushed: true };
  const approved = seal({
    id: `${task}/A1`,
    status: "merged",
    how: "typed on the terminal",
    receipt: digest,
    repos: [
      { name: "bench", ref: "refs/heads/main", ...merge, onto: undefined, style: "merge", id: REPOSITORY },
    ],
    redo_of: undefined,
    uid: hex(`uid ${number}`).slice(0, 32),
    signatures: [],
    ...made(),
    summary: "",
    trouble: "",
  });
  return {
    [proofPath]: proof,
    [`tasks/${task}/receipt.md`]: printRecord(receipt, passed),
    [`tasks/${task}/approvals/A1.md`]: printRecord(approval, approved),
  };
}

const evidenceOf = (task: string, head: string, tree: string): Evidence => ({
  id: `${task}/E1`,
  kind: "check",
  check: "test",
  run: undefined,
  slice: undefined,
  argv: ["npm", "test"],
  tests_nothing: false,
  programs: [],
  environment: "kept",
  exit_code: 0,
  duration_ms: 1200,
  output_sha256: hex(task),
  output_bytes: 12,
  head,
  tree,
  dirty: false,
  unstable: false,
  ...made(),
  output: "ok\n",
});

const made = () => ({
  ...{
    rev: 1,
    actor: "human:Ada",
    created: AT,
    updated: AT,
    repo: "bench",
    branch: undefined,
    commit: undefined,
  },
});

function stateOf(base: string, tasks: Files): string {
  const known = printRecord(repository, {
    ...{ ...made(), id: "bench", home: true, base_branch: undefined, ...UNGUARDED },
    baseline: [{ ref: "refs/heads/main", commit: base, at: AT, clone: undefined }],
  });
  const files: Files = { "repos/bench.md": known, ...tasks };
  const events = Object.entries(files).map(([path, text]) => {
    const record = `${path.replace(/^tasks\/|^repos\/|approvals\/|evidence\/|\.md$/g, "")}@1`;
    const told = { time: AT, event: "approve", record, about: "", actor: "human:Ada", path };
    return JSON.stringify({ ...told, text: hex(text).slice(0, 16) });
  });
  const all = { ...files, "events/bench/2026-11.jsonl": `${events.join("\n")}\n` };
  return `commit refs/heads/pawl/state\ncommitter Ada <ada@example.com> 1700000000 +0000\n${data("State")}${put(all)}\n`;
}

const text = (bytes: Buffer | string) => {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
};

const sshKey = (key: KeyObject) =>
  Buffer.concat([text("ssh-ed25519"), text(Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url"))]);

/** What `ssh-keygen -Y sign` makes, without starting it ten thousand times. */
function withSignature(value: Approval, key: Buffer, secret: KeyObject): Approval {
  const hash = createHash("sha512")
    .update(digestOf(approvalStatement(value)))
    .digest();
  const signed = Buffer.concat([Buffer.from("SSHSIG"), ...[SSH_NAMESPACE, "", "sha512", hash].map(text)]);
  const inner = Buffer.concat([text("ssh-ed25519"), text(sign(null, signed, secret))]);
  const version = Buffer.from([0, 0, 0, 1]);
  const parts = [key, SSH_NAMESPACE, "", "sha512", inner].map(text);
  const ssh = Buffer.concat([Buffer.from("SSHSIG"), version, ...parts]).toString("base64");
  const by = { name: "Ada", key: "ada", level: "possession" } as const;
  const signatures = [{ about: "approval" as const, repo: undefined, ...by, ssh, passkey: undefined }];
  return { ...value, how: howOf("", signatures), signatures };
}
