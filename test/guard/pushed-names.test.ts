// @module-tag proof
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditIn } from "../helpers/audited-project.ts";
import { openProject } from "../helpers/command-line.ts";
import { bundlePawl } from "../helpers/pseudo-terminal.ts";
import { gitIn, ok } from "../helpers/ready-task.ts";
import { copySigned, makeSigned, PLAIN_KEY, type SignedProject } from "../helpers/signed-project.ts";
import { makeKey, type TestKey } from "../helpers/ssh-keys.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** Whoever may push may give a ref any name: what is pushed beside the branches must not change what an audit says of them. */
const POLICY = "profile: light\nchecks: none\napprovals: signed\nlevel: possession\n";

let folder: string;
let project: SignedProject;
let eve: TestKey;
let program: string;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("pushed names");
  project = await makeSigned(join(folder, "first"), POLICY);
  eve = makeKey(folder, "eve", PLAIN_KEY);
  program = join(folder, "pawl");
  const bundle = await bundlePawl(folder);
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${bundle}' "$@"\n`, { mode: 0o755 });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = () => copySigned(project, join(folder, `copy ${++copies}`));
function send(it: SignedProject, ...refs: string[]): { code: number | null; err: string } {
  const argv = ["push", "-q", "--no-verify", "origin", ...refs];
  const { status, stderr } = spawnSync("git", argv, { cwd: it.home.path, env: it.env, encoding: "utf8" });
  return { code: status, err: stderr };
}
function guardServer(it: SignedProject): void {
  mkdirSync(join(it.remote, "hooks"), { recursive: true });
  const shipped = fileURLToPath(new URL("../../hooks/server/pre-receive", import.meta.url));
  copyFileSync(shipped, join(it.remote, "hooks/pre-receive"));
  gitIn(it, it.remote, "config", "pawl.program", program);
}
const evilOn = (it: SignedProject) => it.git("commit-tree", "-p", "main", "-m", "evil", "main^{tree}");

describe("somebody who may push", () => {
  test("cannot hide a branch of a bare repository behind a ref named like a fetched copy of it", async () => {
    const it = fresh();
    const evil = evilOn(it);
    send(it, "main:refs/remotes/origin/main", `${evil}:refs/heads/main`);
    const mirror = join(it.root, "mirror.git");
    gitIn(it, it.root, "clone", "-q", "--mirror", it.remote, mirror);
    for (const path of [it.remote, mirror]) {
      const found = await auditIn(openProject({ path, env: it.env }), "--ci");
      expect([found.code, found.reasons], path).toEqual([1, ["no_approval"]]);
    }
  });

  test("cannot hide the records behind a ref named like a fetched copy of them", async () => {
    const it = fresh();
    await it.ready("one");
    await ok(it.types("T0001", "approve", "T1", "--finish"));
    await ok(it.home.pawl("sync", "--yes"));
    send(it, "main", "main:refs/remotes/origin/pawl/state");
    expect((await auditIn(openProject({ path: it.remote, env: it.env }), "--ci")).code).toBe(0);
  });

  test("cannot have the server run a program of theirs by replacing the commit that names it", () => {
    const it = fresh();
    guardServer(it);
    const [before, ran] = [it.git("rev-parse", "main"), join(it.root, "ran")];
    const write = `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "")`;
    it.git("checkout", "-q", "--detach");
    it.home.write(".pawl/lock.json", '{\n  "package": "abc"\n}\n');
    it.home.write(".pawl/get.cjs", write);
    it.git("add", "-f", ".pawl/lock.json", ".pawl/get.cjs");
    it.git("commit", "-q", "-m", "theirs");
    expect(send(it, `HEAD:refs/replace/${before}`).code).toBe(0);
    const refused = send(it, `${evilOn(it)}:refs/heads/main`);
    expect(refused.err).toContain("has commits that nobody approved");
    expect(existsSync(ran)).toBe(false);
    expect(gitIn(it, it.remote, "rev-parse", "main")).toBe(before);
  });

  test("cannot move the pinned root with a branch or tag named like its short id", async () => {
    const it = fresh();
    const root = it.git("log", "--format=%H", "--diff-filter=A", "--", ".pawl/approvers.yaml");
    const add = ["approver", "add", "--name", "Eve", "--as", "eve", "--ssh", `${eve.file}.pub`, "--lost"];
    await ok(it.types("eve", ...add));
    await ok(it.home.pawl("sync", "--yes"));
    const short = root.slice(0, 12);
    send(it, "main", `main:refs/heads/${short}`, `main:refs/tags/${short}`);
    expect((await it.ci("--root", root)).reasons).toEqual(["not_signed"]);
    const server = openProject({ path: it.remote, env: it.env });
    const refused = await server.pawl("audit", "--ci", "--root", short, "--json");
    expect([refused.code, refused.json.error.code]).toEqual([3, "bad_input"]);
    expect(refused.json.error.message).toContain("the whole id of the commit");
    expect((await it.home.pawl("approver", "list")).out).toContain(`root ${root}, `);
  });
});

test("a server lets keys in that replace lost ones once every root pinned there is part of a branch", async () => {
  const it = fresh();
  guardServer(it);
  const pin = (...argv: string[]) => gitIn(it, it.remote, "config", ...argv);
  const root = it.git("log", "--format=%H", "--diff-filter=A", "--", ".pawl/approvers.yaml");
  const add = ["approver", "add", "--name", "Eve", "--as", "eve", "--ssh", `${eve.file}.pub`, "--lost"];
  await ok(it.types("eve", ...add));
  await ok(it.home.pawl("sync", "--yes"));
  pin("pawl.root", root);
  expect(send(it, "main").err).toContain("has commits that nobody approved");
  pin("pawl.root", it.git("rev-parse", "main"));
  pin("--add", "pawl.root", "e".repeat(40));
  expect(send(it, "main").err).toContain("refused");
  pin("--replace-all", "pawl.root", it.git("rev-parse", "main"));
  expect(send(it, "main")).toMatchObject({ code: 0 });
});

test("the workflow reads the base as it is, not as a replaced commit shows it", () => {
  const workflow = readFileSync(new URL("../../hooks/ci/pawl-audit.yml", import.meta.url), "utf8");
  expect(workflow).toContain('GIT_NO_REPLACE_OBJECTS: "1"');
});
