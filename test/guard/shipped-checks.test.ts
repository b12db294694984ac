// @module-tag proof
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";

/**
 * The workflow and the server's hook as they are shipped, with the package that the project carries: no registry, no npm
 * and no pawl can be started there.
 */

let root: string;
let program: BuiltProgram;
let project: TemporaryRepository;
let remote: string;
/** The head of a task that is ready, as its request has it. */
let ready: string;
let bare: Record<string, string>;
let names = 0;

const shipped = (name: string) => fileURLToPath(new URL(`../../hooks/${name}`, import.meta.url));
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env: project.env, encoding: "utf8", stdio: "pipe" }).trim();

function pawl(cwd: string, ...args: string[]) {
  const done = spawnSync(process.execPath, [program.pawl, ...args, "--json"], {
    ...{ cwd, env: project.env, encoding: "utf8" },
  });
  const json = JSON.parse(done.stdout || "null");
  expect([json?.error, json?.data?.check?.reasons ?? []], done.stderr).toEqual([undefined, []]);
  return json;
}

const POLICY = (address: string) =>
  `profile: light\nchecks:\n  test: test -f work.txt\nremotes:\n  - name: origin\n    address: ${JSON.stringify(address)}\n    guarded: true\n`;

beforeAll(() => {
  root = makeTemporaryFolder("shipped");
  program = buildProgram();
  project = makeRepository(root, "shop");
  remote = join(root, "remote.git");
  git(root, "init", "-q", "--bare", "--template=", "-b", "main", remote);
  git(project.path, "remote", "add", "origin", remote);
  mkdirSync(join(project.path, ".pawl"));
  writeFileSync(join(project.path, ".pawl/config.yaml"), POLICY(remote));
  git(project.path, "add", ".pawl");
  git(project.path, "commit", "-qm", "The policy");
  git(project.path, "push", "-qu", "origin", "main");
  pawl(project.path, "install", "--vendor", "--commit", "--yes");
  git(project.path, "push", "-q", "origin", "main");
  const [worktree] = pawl(project.path, "start", "Do the work").data.run.repos;
  const there = join(project.path, worktree.worktree);
  writeFileSync(join(there, "work.txt"), "work\n");
  git(there, "add", "work.txt");
  git(there, "commit", "-qm", "Do the work");
  ready = git(there, "rev-parse", "HEAD");
  expect(pawl(there, "pr").data.request.ready).toBe(true);
  pawl(project.path, "sync", "--yes");
  bare = { ...project.env, PATH: onlyGitAndNode() };
}, 240_000);
afterAll(() => {
  program.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

/** A PATH as small as it can be: whoever starts npm or pawl finds none. */
function onlyGitAndNode(): string {
  const bin = join(root, "bin");
  mkdirSync(bin);
  for (const name of ["git", "node", "sh", "env", "mktemp", "rm", "grep", "sleep"]) {
    const found = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    writeFileSync(join(bin, name), `#!/bin/sh\nexec '${found}' "$@"\n`, {
      mode: 0o755,
    });
  }
  return bin;
}

describe("the workflow", () => {
  interface Step {
    name?: string;
    if?: string;
    run?: string;
    with?: Record<string, unknown>;
  }
  interface Workflow {
    on: Record<string, unknown>;
    permissions: unknown;
    jobs: { audit: { env: Record<string, string>; steps: Step[] } };
  }
  const workflow = () => parse(readFileSync(shipped("ci/pawl-audit.yml"), "utf8")) as Workflow;

  /** Its steps one after the other, in a clone such as its checkout makes, with what GitHub would fill in. */
  function runSteps(base: string, event: "push" | "pull_request_target", env: Record<string, string> = {}) {
    const { steps, env: own } = workflow().jobs.audit;
    const clone = join(root, `checkout ${++names}`);
    git(root, "clone", "-q", "--single-branch", remote, clone);
    git(clone, "checkout", "-q", base);
    const temp = join(root, `temp ${names}`);
    mkdirSync(temp);
    const asked = event === "push" ? "!= 'pull_request_target'" : "== 'pull_request_target'";
    const chosen = steps.filter((one) => one.run && (one.if?.endsWith(asked) ?? true));
    let out = "";
    for (const { run } of chosen) {
      const done = spawnSync("sh", ["-e", "-c", run ?? ""], {
        cwd: clone,
        env: { ...bare, ...own, PAWL_BASE: base, PAWL_WAIT_SECONDS: "0", RUNNER_TEMP: temp, ...env },
        encoding: "utf8",
      });
      out += done.stdout + done.stderr;
      if (done.status !== 0) return { code: done.status, out };
    }
    return { code: 0, out };
  }
  const tip = (ref = "main") => git(remote, "rev-parse", ref);
  const request = (head: string, base = "main") => {
    git(remote, "update-ref", "refs/pull/7/head", head);
    const env = { PAWL_HEAD: head, PAWL_INTO: base, PAWL_REQUEST: "7" };
    return runSteps(tip(), "pull_request_target", env);
  };

  test("takes everything from the base, has no secret and writes nothing", () => {
    const { on, permissions, jobs } = workflow();
    expect(Object.keys(on)).not.toContain("pull_request");
    expect(Object.keys(on)).toContain("pull_request_target");
    expect(permissions).toEqual({ contents: "read" });
    const { ref, ...checkout } = jobs.audit.steps[0]?.with ?? {};
    expect(checkout).toEqual({ "fetch-depth": 0 });
    expect(ref).toMatch(/^\$\{\{ github\.event\.pull_request\.base\.sha \|\| github\.sha \}\}$/);
    for (const { run = "" } of jobs.audit.steps) expect(run).not.toContain("${{");
  });

  test("gets what a signed request brought, although its branch was deleted", () => {
    const head = git(remote, "commit-tree", "-m", "squashed", `${tip()}^{tree}`);
    git(remote, "update-ref", "refs/pull/8/head", head);
    const before = tip("pawl/state");
    const text = `---\nstatus: requested\nrepos:\n  - name: shop\n    head: "${head}"\n---\n`;
    const clone = join(root, `state ${++names}`);
    git(root, "clone", "-q", "-b", "pawl/state", remote, clone);
    mkdirSync(join(clone, "tasks/T0001/approvals"), { recursive: true });
    writeFileSync(join(clone, "tasks/T0001/approvals/A9.md"), text);
    git(clone, "add", "-Af", "tasks");
    git(clone, "commit", "-qm", "A request");
    git(clone, "push", "-q", "origin", "pawl/state");
    runSteps(tip(), "push", { PAWL_TRIES: "1" });
    git(remote, "update-ref", "refs/heads/pawl/state", before);
    expect(git(join(root, `checkout ${names}`), "cat-file", "-t", head)).toBe("commit");
  });

  test("passes what is explained, and looks again before it fails what is not", {
    timeout: 120_000,
  }, () => {
    const good = runSteps(tip(), "push");
    expect([good.code, good.out]).toEqual([0, expect.stringContaining("Everything is explained.")]);
    const before = tip();
    const evil = git(remote, "commit-tree", "-p", before, "-m", "evil", `${before}^{tree}`);
    git(remote, "update-ref", "refs/heads/main", evil);
    const bad = runSteps(before, "push");
    git(remote, "update-ref", "refs/heads/main", before);
    expect(bad.code, bad.out).toBe(1);
    // A record may arrive after its merge.
    expect(bad.out.match(/Not everything is explained/g)).toHaveLength(3);
  });

  test("lets a request pass that the close gate lets pass, and no other", {
    timeout: 120_000,
  }, () => {
    const good = request(ready);
    expect([good.code, good.out]).toEqual([0, expect.stringContaining("T0001 can be approved")]);
    // Somebody pushes one commit more, which nobody has checked.
    const more = git(remote, "commit-tree", "-p", ready, "-m", "more", `${ready}^{tree}`);
    expect(request(more)).toMatchObject({
      code: 1,
      out: expect.stringContaining("No published task has a snapshot of"),
    });
    // The base went on: what was checked is not what would be merged.
    const before = tip();
    const next = git(remote, "commit-tree", "-p", before, "-m", "next", `${before}^{tree}`);
    git(remote, "update-ref", "refs/heads/main", next);
    const moved = request(ready);
    git(remote, "update-ref", "refs/heads/main", before);
    expect(moved).toMatchObject({ code: 1, out: expect.stringContaining("base_moved") });
  });

  test("runs the base's package, whatever the request brings", () => {
    const clone = join(root, `request ${++names}`);
    const ran = join(root, "ran");
    git(root, "clone", "-q", remote, clone);
    const evil = `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "")\n`;
    for (const file of ["get.cjs", "pawl.cjs"]) writeFileSync(join(clone, ".pawl", file), evil);
    git(clone, "commit", "-qam", "A package of my own");
    git(clone, "push", "-q", "origin", "HEAD:refs/heads/request");
    expect(request(git(clone, "rev-parse", "HEAD")).code).toBe(1);
    expect(existsSync(ran)).toBe(false);
  }, 60_000);

  test("cannot tell what a newer pawl wrote, and says how the base gets that package", {
    timeout: 120_000,
  }, () => {
    const before = tip("pawl/state");
    const clone = join(root, `newer ${++names}`);
    git(root, "clone", "-q", "-b", "pawl/state", remote, clone);
    const [repository = ""] = readdirSync(join(clone, "repos"));
    for (const record of [`repos/${repository}`, "tasks/T0001/task.md"]) {
      const text = readFileSync(join(clone, record), "utf8");
      writeFileSync(join(clone, record), text.replace("---\n", "---\nformat: 2\nshape: round\n"));
    }
    git(clone, "commit", "-qam", "Written by the next pawl");
    git(clone, "push", "-q", "origin", "HEAD:pawl/state");
    const [pushed, requested] = [runSteps(tip(), "push"), request(ready)];
    git(remote, "update-ref", "refs/heads/pawl/state", before);
    for (const { code, out } of [pushed, requested]) {
      expect(code, out).toBe(2);
      expect(out).toMatch(/written by a newer pawl: it has format 2.*\n.*\n.*push the upgrade there first/);
      expect(out).not.toContain("Remove or rename");
    }
  });

  test("stops where the base's ledger names another package than the one that is there", () => {
    const before = tip();
    const clone = join(root, `tampered ${++names}`);
    git(root, "clone", "-q", remote, clone);
    const ledger = join(clone, ".pawl/lock.json");
    const text = readFileSync(ledger, "utf8");
    writeFileSync(ledger, text.replace(JSON.parse(text).package, "0".repeat(64)));
    git(clone, "commit", "-qam", "Another");
    const other = git(clone, "rev-parse", "HEAD");
    git(remote, "fetch", "-q", clone, `HEAD:refs/heads/other`);
    expect(runSteps(other, "push")).toMatchObject({
      code: 1,
      out: expect.stringContaining("Nothing of it was run"),
    });
    git(remote, "update-ref", "-d", "refs/heads/other");
    expect(tip()).toBe(before);
  }, 60_000);
});

describe("the server's hook", () => {
  /** A server of its own, with what the remote has. */
  function server(): string {
    const path = join(root, `server ${++names}.git`);
    git(root, "clone", "-q", "--bare", remote, path);
    mkdirSync(join(path, "hooks"), { recursive: true });
    copyFileSync(shipped("server/pre-receive"), join(path, "hooks/pre-receive"));
    return path;
  }
  const push = (to: string, ...refs: string[]) => {
    const args = ["-c", `core.hooksPath=/dev/null`, "push", "-q", to, ...refs];
    const done = spawnSync("git", args, { cwd: project.path, env: bare, encoding: "utf8" });
    return { code: done.status, err: done.stderr };
  };
  const unapproved = () => {
    const tree = git(project.path, "rev-parse", "main^{tree}");
    return git(project.path, "commit-tree", "-p", "main", "-m", "evil", tree);
  };

  test("decides with the package that the branch carries, on a server that has no pawl", () => {
    const at = server();
    expect(push(at, `${ready}:refs/heads/side`)).toMatchObject({ code: 0 });
    const refused = push(at, `${unapproved()}:refs/heads/main`);
    expect(refused.code, refused.err).toBe(1);
    expect(refused.err).toContain("this push to a protected branch has commits that nobody approved");
  }, 60_000);

  test("runs the server's own pawl only if it is the package that the branch names", () => {
    const at = server();
    // As it would be without `--vendor`.
    const clone = join(root, `named ${++names}`);
    git(root, "clone", "-q", at, clone);
    git(clone, "rm", "-rq", ".pawl/vendor");
    git(clone, "commit", "-qm", "Not carried");
    git(at, "fetch", "-q", clone, "+HEAD:refs/heads/main");
    const side = () => push(at, `${ready}:refs/heads/side-${++names}`);
    expect(side()).toMatchObject({ code: 1, err: expect.stringContaining("pawl install --vendor --commit") });
    const ran = join(root, "ran on the server");
    const stranger = join(root, "stranger");
    writeFileSync(stranger, `#!/bin/sh\n: > '${ran}'\n`, { mode: 0o755 });
    git(at, "config", "pawl.program", stranger);
    expect(side()).toMatchObject({ code: 1, err: expect.stringContaining("Nothing of it was run") });
    expect(existsSync(ran)).toBe(false);
    git(at, "config", "pawl.program", program.pawl);
    expect(side()).toMatchObject({ code: 0 });
  }, 60_000);
});
