import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { HistoryGit } from "../../src/git/audit/history-git.ts";
import { askRemotes } from "../../src/git/audit/remote-tips.ts";
import { openRemotes } from "../../src/git/remotes.ts";
import type { Remotes } from "../../src/ports/remotes.ts";
import type { Site } from "../../src/ports/sites.ts";
import type { Project } from "../helpers/command-line.ts";
import { test } from "../helpers/two-clones.ts";

const siteOf = (project: Project): Site => ({
  name: "my project",
  home: true,
  commonDir: join(project.path, ".git"),
  mainRoot: project.path,
});
const quiet = () => {};

test("where a branch is published: its own settings, else origin, else nowhere", async ({ clones }) => {
  const { ada, ben } = clones;
  const of = (project: Project, branch: string) => openRemotes(project.env).remoteOf(siteOf(project), branch);
  const origin = { remote: "origin", ref: "main", tracking: "refs/remotes/origin/main" };
  expect(await of(ben, "main")).toEqual(origin);
  expect(await of(ada, "main")).toEqual(origin);
  ada.git("remote", "add", "upstream", clones.remote);
  ada.git("config", "branch.main.remote", "upstream");
  ada.git("config", "branch.main.merge", "refs/heads/trunk");
  expect(await of(ada, "main")).toEqual({
    remote: "upstream",
    ref: "trunk",
    tracking: "refs/remotes/upstream/trunk",
  });
  ada.git("config", "branch.local.remote", ".");
  expect(await of(ada, "local")).toBeUndefined();
  ada.git("remote", "remove", "origin");
  expect(await of(ada, "other")).toBeUndefined();
});

test("a push is taken, rejected when the remote moved on, refused by a rule, or nobody answers", async ({
  clones,
}) => {
  const { ada, ben } = clones;
  const push = (project: Project) =>
    openRemotes(project.env).push(siteOf(project), "origin", ["refs/heads/main:refs/heads/main"], quiet);
  ada.commit("a.txt", "a\n");
  expect(await push(ada)).toEqual({ ok: true });
  ben.commit("b.txt", "b\n");
  expect(await push(ben)).toMatchObject({ ok: false, reason: "rejected" });
  await openRemotes(ben.env).fetch(siteOf(ben), "origin", quiet);
  expect(ben.git("rev-parse", "origin/main")).toBe(ada.git("rev-parse", "HEAD"));

  const hook = (path: string) => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, "#!/bin/sh\necho not today >&2\nexit 1\n");
    chmodSync(path, 0o755);
  };
  ada.commit("c.txt", "c\n");
  // The user's own hook has its say when their branch is pushed.
  hook(join(ada.path, ".git/hooks/pre-push"));
  expect(await push(ada)).toMatchObject({
    ok: false,
    reason: "refused",
    said: expect.stringContaining("not today"),
  });
  renameSync(join(ada.path, ".git/hooks/pre-push"), join(ada.path, ".git/hooks/off"));
  hook(join(clones.remote, "hooks/pre-receive"));
  expect(await push(ada)).toMatchObject({
    ok: false,
    reason: "refused",
    said: expect.stringContaining("not today"),
  });
  renameSync(clones.remote, `${clones.remote}.away`);
  expect(await push(ada)).toMatchObject({ ok: false, reason: "unreachable" });
  await expect(openRemotes(ada.env).fetch(siteOf(ada), "origin", quiet)).rejects.toMatchObject({
    code: "remote_unreachable",
    exitCode: 2,
  });
});

/** A stand-in for ssh that writes down how it was called, takes its time, and lets nobody in. */
function fakeSsh(root: string, seconds: string): string {
  mkdirSync(join(root, "bin"), { recursive: true });
  writeFileSync(
    join(root, "bin", "ssh"),
    `#!/bin/sh\necho "$@" >> '${root}/asked'\nenv >> '${root}/environment'\nsleep ${seconds}\nexit 255\n`,
  );
  chmodSync(join(root, "bin", "ssh"), 0o755);
  return join(root, "bin");
}

test("an audit is told what the remote itself says, past what this environment makes of its name", async ({
  clones,
}) => {
  const { ada, ben } = clones;
  const option = "--upload-pack=touch-pwned";
  const believed = ben.git("rev-parse", "origin/main");
  const asked = ["origin", option].map((name) => ({ name, word: undefined, beyond: [believed] }));
  const ask = (env: Record<string, string> = {}, lines: string[] = []) =>
    askRemotes(new HistoryGit(siteOf(ben), { ...ben.env, ...env }), "refs/heads/main", asked, (line) =>
      lines.push(line),
    );
  const fact = { name: "origin", tracking: "refs/remotes/origin/main", believed };
  expect(await ask()).toEqual([{ ...fact, word: "confirmed", upTo: believed, ahead: [] }]);

  // It went on: what is not fetched yet is looked at, and nothing of it stays here.
  const later = ada.commit("a.txt", "a\n");
  ada.git("push", "-q", "origin", "main");
  expect(await ask()).toMatchObject([{ ...fact, word: "confirmed", upTo: believed, ahead: [{ id: later }] }]);
  expect(() => ben.git("cat-file", "-e", later)).toThrow();

  // A name that this shell alone sends elsewhere is asked where everybody's git would.
  const elsewhere = {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "url./nowhere/.insteadOf",
    GIT_CONFIG_VALUE_0: clones.remote,
  };
  expect(await ask(elsewhere)).toMatchObject([{ ...fact, word: "confirmed", upTo: believed }]);

  ada.git("checkout", "-q", "--orphan", "other");
  ada.git("commit", "-q", "--allow-empty", "-m", "Another history");
  ada.git("push", "-q", "-f", "origin", "other:main");
  expect(await ask()).toMatchObject([{ ...fact, word: "denied", upTo: undefined }]);

  renameSync(clones.remote, `${clones.remote}.away`);
  expect(await ask()).toEqual([{ ...fact, word: "silent", upTo: undefined, ahead: [] }]);
  // A remote that was written into the config by hand, with a name that looks like an option.
  renameSync(`${clones.remote}.away`, clones.remote);
  ben.git("config", `remote.${option}.url`, clones.remote);
  ben.git("update-ref", `refs/remotes/${option}/main`, believed);
  expect((await ask()).find((one) => one.name === option)).toMatchObject({ word: "silent" });
});

test("nothing is asked of anybody, and the user's own ssh settings stay as they are", async ({ clones }) => {
  const { ada, root } = clones;
  const bin = fakeSsh(root, "0");
  ada.git("remote", "set-url", "origin", "git@example.com:x/y.git");
  const asked = () => readFileSync(join(root, "asked"), "utf8").trim().split("\n").at(-1) ?? "";
  const fetch = (remotes: Remotes) =>
    remotes.fetch(siteOf(ada), "origin", quiet).catch((error) => error.code);
  const env = { ...ada.env, PATH: `${bin}:${ada.env.PATH}` };
  expect(await fetch(openRemotes({ ...env, GIT_DIR: "/nowhere", GIT_INDEX_FILE: "/nowhere" }))).toBe(
    "remote_unreachable",
  );
  expect(asked()).toContain("-oBatchMode=yes");
  const seen = readFileSync(join(root, "environment"), "utf8");
  expect(seen).toContain("GIT_TERMINAL_PROMPT=0");
  expect(seen).not.toContain("GIT_INDEX_FILE");
  expect(seen).not.toContain("GIT_TEST_DISALLOW_ABBREVIATED_OPTIONS=true");

  await fetch(openRemotes({ ...env, GIT_SSH_COMMAND: `ssh -i "my key"` }));
  expect(asked()).toContain("my key");
  expect(asked()).not.toContain("BatchMode");
  ada.git("config", "core.sshCommand", "ssh -i other");
  await fetch(openRemotes(env));
  expect(asked()).toContain("-i other");
  expect(asked()).not.toContain("BatchMode");
  expect(existsSync("/nowhere")).toBe(false);
});

test("whoever waits is told at least once a second", { tags: ["proof"] }, async ({ clones }) => {
  const { ada, root } = clones;
  const bin = fakeSsh(root, "2.5");
  ada.git("remote", "set-url", "origin", "git@example.com:x/y.git");
  const lines: string[] = [];
  const env = { ...ada.env, PATH: `${bin}:${ada.env.PATH}` };
  await openRemotes(env)
    .fetch(siteOf(ada), "origin", (line) => lines.push(line))
    .catch(() => {});
  expect(lines.slice(0, 2)).toEqual(["git fetch origin: 1 s", "git fetch origin: 2 s"]);
});
