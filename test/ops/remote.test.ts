import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openProject, type Project } from "../helpers/command-line.ts";
import { gitIn, ok, type Ready, typing } from "../helpers/ready-task.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const folder = makeTemporaryFolder("remote");
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

let it: Ready & { home: Project };
let count = 0;

/** A repository that publishes to `origin`, and beside it another one that nobody trusts. */
beforeEach(() => {
  const root = join(folder, `${++count}`);
  mkdirSync(root);
  const home = openProject(makeRepository(root, "shop"));
  it = { root, env: home.env, repos: [home], home };
  for (const name of ["origin", "other"])
    gitIn(it, root, "init", "-q", "--bare", "--template=", "-b", "main", `${name}.git`);
  home.git("remote", "add", "origin", "../origin.git");
  home.git("push", "-q", "-u", "origin", "main");
});

const install = (...argv: string[]) => it.home.pawl("install", "--profile", "hooks", ...argv);
const standings = async () => {
  const { remotes } = (await ok(it.home.pawl("remote", "list", "--json"))).json.data;
  return Object.fromEntries(
    remotes.map((one: { name: string; standing: string }) => [one.name, one.standing]),
  );
};
const trust = (name: string, ...argv: string[]) =>
  typing(it, { typed: name }, "remote", "trust", name, ...argv);
const record = () => readFileSync(join(it.home.path, ".pawl/state/repos/shop.md"), "utf8");

describe("a first installation", () => {
  test("takes the remote that the branch follows, and no other", async () => {
    it.home.git("remote", "add", "other", "../other.git");
    const done = await ok(install("--yes", "--json"));
    expect(done.json.data.install.guard.trusted).toEqual([{ name: "origin", address: "../origin.git" }]);
    expect(await standings()).toEqual({ origin: "trusted", other: "untrusted" });
    expect(record()).not.toContain("origin.git");
  });

  test("on a terminal shows it, and takes nothing after a no", async () => {
    const no = await typing(it, { typed: "no" }, "install", "--profile", "hooks");
    expect([no.code, no.json.error.code]).toEqual([1, "not_confirmed"]);
    expect(no.err).toContain("origin (../origin.git)");
    await typing(it, { typed: "yes" }, "install", "--profile", "hooks");
    expect(await standings()).toEqual({ origin: "trusted" });
  });

  test("by an agent leaves it to a human, and pulls keep working", async () => {
    const done = await ok(
      it.home.pawlIn(it.home.path, { CLAUDECODE: "1" }, "install", "--profile", "hooks", "--json"),
    );
    expect(done.json.warnings.join()).toContain("pawl remote trust origin");
    expect(await standings()).toEqual({ origin: "unconfirmed" });
    publishFromElsewhere();
    it.home.git("pull", "-q", "--ff-only");
    const audited = await it.home.pawl("audit", "--json");
    expect([audited.code, audited.json.error.code]).toEqual([2, "remote_unconfirmed"]);
    await ok(trust("origin"));
    expect((await it.home.pawl("audit")).code).toBe(0);
  });

  test("trusts neither this repository nor a program's word", async () => {
    for (const address of [".", "ext::sh -c true"]) {
      it.home.git("remote", "set-url", "origin", address);
      const done = await ok(install("--yes", "--json"));
      expect(done.json.data.install.guard.trusted).toEqual([]);
      expect(await standings()).toEqual({ origin: "never" });
      const asked = await trust("origin");
      expect([asked.code, asked.json.error.code]).toEqual([1, "untrustworthy_remote"]);
    }
  });

  test("of a repository without a remote has nothing to ask", async () => {
    it.home.git("remote", "remove", "origin");
    const done = await ok(install("--yes", "--json"));
    expect(done.json.data.install.guard.trusted).toEqual([]);
    expect(done.json.warnings.join()).not.toContain("remote");
    expect((await it.home.pawl("audit")).code).toBe(0);
    expect((await ok(it.home.pawl("remote", "list"))).out).toContain("no remote");
  });
});

describe("a later installation", () => {
  test("takes nothing that nobody confirmed: a pipe and --yes are not enough", async () => {
    await ok(install("--yes"));
    it.home.git("remote", "set-url", "origin", "../other.git");
    rmSync(join(it.home.path, ".git/pawl/clone"));
    const done = await ok(install("--yes", "--json"));
    expect(done.json.data.install.guard.trusted).toEqual([]);
    expect(done.json.warnings.join()).toContain("pawl remote trust origin");
    expect(await standings()).toEqual({ origin: "unconfirmed" });
  });

  test("takes what the policy on the protected branch names, by its address", async () => {
    it.home.write(
      ".pawl/config.yaml",
      "remotes:\n  - name: origin\n    address: ../origin.git\n    guarded: true\n",
    );
    it.home.git("add", "-f", ".pawl/config.yaml");
    it.home.git("commit", "-qm", "Policy");
    await ok(it.home.pawlIn(it.home.path, { CLAUDECODE: "1" }, "install", "--profile", "hooks"));
    const { remotes } = (await ok(it.home.pawl("remote", "list", "--json"))).json.data;
    expect(remotes).toMatchObject([{ name: "origin", standing: "trusted", guarded: true }]);
  });
});

describe("remote trust and forget", { tags: ["proof"] }, () => {
  test("are a human's: no agent, no pipe, no other word", async () => {
    await ok(install("--yes"));
    it.home.git("remote", "add", "other", "../other.git");
    const before = record();
    const agent = await typing(it, { typed: "other", env: { CLAUDECODE: "1" } }, "remote", "trust", "other");
    expect([agent.code, agent.json.error.code]).toEqual([1, "human_only"]);
    const pipe = await typing(it, {}, "remote", "trust", "other");
    expect([pipe.code, pipe.json.error.code]).toEqual([1, "no_terminal"]);
    const word = await typing(it, { typed: "yes" }, "remote", "trust", "other");
    expect([word.code, word.json.error.code]).toEqual([1, "not_confirmed"]);
    const gone = await typing(it, { typed: "x" }, "remote", "forget", "other");
    expect([gone.code, gone.json.error.code]).toEqual([4, "not_trusted"]);
    const unknown = await trust("nobody");
    expect([unknown.code, unknown.json.error.code]).toEqual([4, "no_remote"]);
    expect(record()).toBe(before);
    expect(await standings()).toEqual({ origin: "trusted", other: "untrusted" });
  });

  test("change what the guard lets in, and what an audit believes", async () => {
    await ok(install("--yes"));
    it.home.git("remote", "set-url", "origin", "../other.git");
    it.home.git("push", "-q", "--no-verify", "origin", "main");
    publishFromElsewhere("other");
    expect(() => it.home.git("pull", "-q", "--ff-only")).toThrow(/pawl remote trust origin/);
    expect(await standings()).toEqual({ origin: "changed" });
    const told = await it.home.pawl("remote", "list");
    expect(told.out).toContain("was ../origin.git and is now ../other.git");
    await ok(trust("origin"));
    it.home.git("pull", "-q", "--ff-only");
    expect((await it.home.pawl("audit")).code).toBe(0);
    await ok(typing(it, { typed: "origin" }, "remote", "forget", "origin"));
    expect((await it.home.pawl("audit")).code).toBe(2);
    publishFromElsewhere("other", "more.txt");
    it.home.git("remote", "add", "second", "../origin.git");
    await ok(trust("second"));
    expect(() => it.home.git("pull", "-q", "--ff-only")).toThrow(/origin is not a trusted remote/);
    expect((await it.home.pawl("audit")).code).toBe(1);
  });
});

function publishFromElsewhere(name = "origin", file = "theirs.txt"): void {
  const path = join(it.root, `clone for ${file}`);
  gitIn(it, it.root, "clone", "-q", "--template=", join(it.root, `${name}.git`), path);
  const clone = openProject({ path, env: it.env });
  clone.commit(file, "theirs\n");
  clone.git("push", "-q", "origin", "main");
}
