import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Audited,
  auditIn,
  cloneForCheck,
  copyAudited,
  guardFromHere,
  makeAudited,
  unlockIt,
} from "../helpers/audited-project.ts";
import type { Project } from "../helpers/command-line.ts";
import { bundlePawl } from "../helpers/pseudo-terminal.ts";
import { approveIt, gitIn, makeReady, ok, type Ready, typing } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let folder: string;
let single: Ready;
let pawl: string;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("server");
  single = await makeAudited(join(folder, "single"), 1);
  const program = await bundlePawl(folder);
  pawl = join(folder, "bin", "pawl");
  mkdirSync(join(folder, "bin"));
  writeFileSync(pawl, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const shipped = (name: string) => fileURLToPath(new URL(`../../hooks/${name}`, import.meta.url));

/** The project with a server that checks what it is sent. */
function fresh(): Audited {
  const it = copyAudited(single, join(folder, `copy ${++copies}`));
  mkdirSync(join(it.remote, "hooks"));
  copyFileSync(shipped("server/pre-receive"), join(it.remote, "hooks/pre-receive"));
  gitIn(it, it.remote, "config", "pawl.program", pawl);
  return it;
}

const push = (it: Audited, ...args: string[]) => it.gitWith({}, "push", "--no-verify", "origin", ...args);
const tipThere = (it: Audited, ref = "main") => gitIn(it, it.remote, "rev-parse", ref);

describe("a server with the pre-receive hook", () => {
  test("refuses a commit that nobody approved, and keeps nothing of it", async () => {
    const it = fresh();
    const before = tipThere(it);
    const evil = it.home.commit("evil.txt", "evil\n");
    const refused = push(it, "main");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("this push to a protected branch has commits that nobody approved");
    expect(refused.err).toContain(`${evil.slice(0, 12)}  no_approval`);
    expect(tipThere(it)).toBe(before);
    expect(() => gitIn(it, it.remote, "cat-file", "-e", evil)).toThrow();
  });

  test("judges a push of many branches and tags at once, as of a repository that moves here", async () => {
    const it = fresh();
    const tip = it.home.git("rev-parse", "HEAD~1").trim();
    const refs = Array.from({ length: 1_200 }, (_, at) => `refs/tags/a-release-of-long-ago-${at}`);
    const lines = [...refs, "refs/heads/topic"].map((ref) => `create ${ref} ${tip}\n`).join("");
    spawnSync("git", ["update-ref", "--stdin"], { cwd: it.home.path, env: it.env, input: lines });
    const taken = push(it, "topic", "--tags");
    expect(taken, taken.err).toMatchObject({ code: 0 });
    expect(tipThere(it, "refs/heads/topic")).toBe(tip);
  });

  /** A second clone that is guarded before it knows of the state, with a commit of its own below its baseline. */
  async function secondClone(it: Audited, name: string): Promise<{ clone: Project; own: string }> {
    const clone = cloneForCheck(it, name);
    const own = clone.commit("own.txt", "own\n");
    await ok(clone.pawl("install", "--profile", "hooks", "--yes"));
    return { clone, own };
  }

  test("believes no baseline that a second clone brings, and neither does anybody else", {
    tags: ["proof"],
    timeout: 120_000,
  }, async () => {
    const it = fresh();
    const { clone, own } = await secondClone(it, "shop again");
    await ok(clone.pawl("sync", "--yes"));
    const refused = spawnSync("git", ["push", "--no-verify", "origin", "main"], {
      ...{ cwd: clone.path, env: clone.env, encoding: "utf8" },
    });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain(own.slice(0, 12));
    expect((await auditIn(clone)).code).toBe(1);
    // Somebody gets it to the server all the same: a check tells.
    const before = tipThere(it);
    gitIn(it, it.remote, "fetch", "-q", clone.path, "main:main");
    const check = cloneForCheck(it, "check");
    expect(await auditIn(check, "--ci")).toMatchObject({ code: 1, counts: { unexplained: 1 } });
    gitIn(it, it.remote, "update-ref", "refs/heads/main", before);
    // An honest colleague has a human look at it: from then on it is explained, for the check too.
    const mate = { root: it.root, env: it.env, repos: [clone] };
    const no = await typing(mate, { typed: "yes", cwd: clone.path }, "unlock", "main", "--accept");
    expect([no.code, no.json.error.code]).toEqual([1, "not_confirmed"]);
    await ok(typing(mate, { typed: "main", cwd: clone.path }, "unlock", "main", "--accept"));
    expect(await auditIn(clone)).toMatchObject({ code: 0, counts: { unlocked: 1 } });
    await ok(clone.pawl("sync", "--yes"));
    clone.git("push", "-q", "--no-verify", "origin", "main");
    expect(await auditIn(cloneForCheck(it, "check again"), "--ci")).toMatchObject({ code: 0 });
    await ok(it.home.pawl("sync", "--yes"));
    const states = gitIn(it, it.remote, "rev-list", "--max-parents=0", "pawl/state").split("\n");
    expect(states).toHaveLength(1);
  });

  test("a colleague whose main is behind begins with the published records, and turns no audit red", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const mate = cloneForCheck(it, "shop behind");
    mate.git("reset", "-q", "--hard", "HEAD~1");
    const installed = await mate.pawl("install", "--profile", "hooks", "--yes");
    expect([installed.code, installed.err]).toEqual([0, expect.stringContaining("were fetched from origin")]);
    await ok(mate.pawl("sync", "--yes"));
    await ok(it.home.pawl("sync", "--yes"));
    expect(await it.audit()).toMatchObject({ code: 0, reasons: [] });
    expect(await auditIn(cloneForCheck(it, "check"), "--ci")).toMatchObject({ code: 0, reasons: [] });
  });

  test("believes no baseline that was united or replaced by hand", {
    tags: ["proof"],
    timeout: 120_000,
  }, async () => {
    const it = fresh();
    const own = it.home.commit("own.txt", "own\n");
    const record = join(it.home.path, ".pawl/state/repos/shop.md");
    const text = readFileSync(record, "utf8");
    const replaced = text.replace(
      /(baseline:\n {2}- ref: refs\/heads\/main\n {4}commit: )"?[0-9a-f]+"?/,
      `$1${own}`,
    );
    expect(replaced).not.toBe(text);
    writeFileSync(record, replaced);
    // The server refuses such a state; one that has no hook does not.
    expect((await it.home.pawl("sync", "--yes")).code).toBe(2);
    rmSync(join(it.remote, "hooks/pre-receive"));
    await ok(it.home.pawl("sync", "--yes"));
    gitIn(it, it.remote, "fetch", "-q", it.home.path, "main:main");
    const found = await auditIn(cloneForCheck(it, "check"), "--ci");
    expect(found).toMatchObject({ code: 1, reasons: ["late_baseline"], findings: ["record_not_ours"] });
  });

  test("takes other branches, tags, and what is there already", () => {
    const it = fresh();
    it.git("switch", "-qc", "side");
    it.home.commit("work.txt", "work\n");
    it.git("tag", "v1");
    expect(push(it, "side", "v1", "main").code).toBe(0);
    expect(push(it, ":side").code).toBe(0);
  });

  test("takes claims on tasks, and nothing else by that name", () => {
    const it = fresh();
    const tree = gitIn(it, it.home.path, "mktree");
    const claim = it.git("commit-tree", "-m", "pawl claim T0001", tree);
    expect(push(it, `${claim}:refs/pawl/claims/T0001`).code).toBe(0);
    expect(tipThere(it, "refs/pawl/claims/T0001")).toBe(claim);
    const child = it.git("commit-tree", "-p", "main", "-m", "pawl claim T0001", tree);
    const wrong = [`+main:refs/pawl/claims/T0001`, `+${child}:refs/pawl/claims/T0001`];
    for (const refspec of [...wrong, `${claim}:refs/pawl/claims/evil`, `${claim}:refs/pawl/claims/T1/x`]) {
      const refused = push(it, refspec);
      expect(refused.code, refspec).toBe(1);
      expect(refused.err, refspec).toContain("holds claims, and this is not a claim");
    }
    const before = tipThere(it);
    it.home.commit("evil.txt", "evil\n");
    expect(push(it, "main", `${claim}:refs/pawl/claims/T0002`).code).toBe(1);
    expect(tipThere(it)).toBe(before);
    expect(push(it, ":refs/pawl/claims/T0001").code).toBe(0);
  });

  test("takes an approved merge once its record is there, also in one push", async () => {
    const it = fresh();
    // As before the approval was published: the server has the baseline and an older state.
    const [merge, base] = [it.git("rev-parse", "main"), it.git("rev-parse", "main~1")];
    const states = gitIn(it, it.remote, "rev-list", "pawl/state").split("\n");
    const older = states.find(
      (one) => !gitIn(it, it.remote, "ls-tree", "-r", "--name-only", one).includes("approvals/A1.md"),
    ) as string;
    const newest = states[0] as string;
    gitIn(it, it.remote, "update-ref", "refs/heads/main", base);
    gitIn(it, it.remote, "update-ref", "refs/heads/pawl/state", older);
    it.git("fetch", "-q", join(it.home.path, ".git/pawl/state.git"), "pawl/state");
    const early = push(it, `${merge}:main`);
    expect(early.code).toBe(1);
    expect(early.err).toContain("pawl sync");
    // Both arrive together, and neither is part of the repository yet while the hook decides.
    const together = push(it, "--atomic", `${merge}:main`, `${newest}:refs/heads/pawl/state`);
    expect(together.err).not.toContain("refused");
    expect(together.code).toBe(0);
    expect(tipThere(it)).toBe(merge);
  });

  test("takes what `pawl approve --push` sends: the records go first", async () => {
    const root = join(folder, `ready ${++copies}`);
    const ready = await makeReady(root, 1);
    const home = ready.repos[0] as Project;
    const remote = join(root, "remote.git");
    gitIn(ready, root, "init", "-q", "--bare", "--template=", "-b", "main", remote);
    home.git("remote", "add", "origin", remote);
    await guardFromHere(home, true, "shop");
    home.git("push", "-q", "-u", "origin", "main");
    await ok(home.pawl("sync", "--yes"));
    mkdirSync(join(remote, "hooks"));
    copyFileSync(shipped("server/pre-receive"), join(remote, "hooks/pre-receive"));
    gitIn(ready, remote, "config", "pawl.program", pawl);
    const done = await approveIt(ready, "--push");
    expect(done.code, done.out + done.err).toBe(0);
    expect(gitIn(ready, remote, "rev-parse", "main")).toBe(home.git("rev-parse", "main"));
    expect(gitIn(ready, remote, "ls-tree", "-r", "--name-only", "pawl/state")).toContain("approvals/A1.md");
  });

  test("takes what a human unlocked, once the record says what that was", { tags: ["proof"] }, async () => {
    const it = fresh();
    await ok(unlockIt(it, "--for", "10m"));
    it.home.commit("by hand.txt", "by hand\n");
    await ok(it.home.pawl("sync", "--yes"));
    expect(push(it, "main").code).toBe(1);
    await ok(it.home.pawl("unlock", "main", "--end"));
    await ok(it.home.pawl("sync", "--yes"));
    expect(push(it, "main").code).toBe(0);
  });

  test("does not let protected branches or the records be deleted or set back", () => {
    const it = fresh();
    gitIn(it, it.remote, "config", "receive.denyDeleteCurrent", "ignore");
    const [main, state] = [tipThere(it), tipThere(it, "pawl/state")];
    expect(push(it, ":main").err).toContain("branch_deleted");
    expect(push(it, "--force", "main~1:main").err).toContain("rewound");
    expect(push(it, ":pawl/state").err).toContain("branch_deleted");
    expect(push(it, "--force", "main:pawl/state").err).toContain("refused");
    expect([tipThere(it), tipThere(it, "pawl/state")]).toEqual([main, state]);
  });

  test("takes no state that lost a record, or a line of a log, although it only goes forward", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const before = tipThere(it, "pawl/state");
    const state = join(it.home.path, ".pawl/state");
    const sending = (message: string, ...paths: string[]) => {
      gitIn(it, state, "add", "-A", "-f", "--", ...paths);
      gitIn(it, state, "commit", "-qm", message);
      const sent = it.gitWith({}, "-C", state, "push", it.remote, "HEAD:refs/heads/pawl/state");
      gitIn(it, state, "reset", "-q", "--hard", before);
      return sent;
    };
    const [log = ""] = gitIn(it, state, "ls-files", "events").split("\n");
    const lines = readFileSync(join(state, log), "utf8").split("\n").filter(Boolean);
    const cut = `${lines.slice(1).join("\n")}\n`;
    const nothing = gitIn(it, it.remote, "hash-object", "-t", "tree", "-w", "/dev/null");
    const empty = gitIn(it, it.remote, "commit-tree", "-p", before, "-m", "empty", nothing);
    it.git("fetch", "-q", it.remote, empty);
    expect(push(it, `${empty}:refs/heads/pawl/state`).err).toContain("record_missing");
    rmSync(join(state, "tasks/T0001/task.md"));
    expect(sending("a task", "tasks").err).toMatch(/record_missing tasks\/T0001\/task\.md/);
    writeFileSync(join(state, log), cut);
    expect(sending("a line", "events").err).toContain(`record_missing ${log}`);
    expect(tipThere(it, "pawl/state")).toBe(before);
    await ok(it.home.pawl("note", "add", "It grows"));
    await ok(it.home.pawl("sync", "--yes"));
    expect(tipThere(it, "pawl/state")).not.toBe(before);
  });

  test("refuses branches while it cannot tell", () => {
    const it = fresh();
    gitIn(it, it.remote, "config", "pawl.program", "/nowhere/pawl");
    it.git("branch", "side");
    const refused = push(it, "side");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("pawl cannot tell whether");
    it.git("tag", "v1");
    expect(push(it, "v1").code).toBe(0);
    gitIn(it, it.remote, "config", "pawl.program", pawl);
    gitIn(it, it.remote, "update-ref", "-d", "refs/heads/pawl/state");
    const stateless = push(it, "side");
    expect(stateless.code).toBe(1);
    expect(stateless.err).toContain("there is no branch pawl/state");
  });
});

test("the hook is sh that any shell reads", () => {
  expect(execFileSync("sh", ["-n", shipped("server/pre-receive")], { encoding: "utf8" })).toBe("");
});
