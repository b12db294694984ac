import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRoutes, untrustworthy } from "../../src/git/routes.ts";
import { plainAddress } from "../../src/model/remote-address.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";

let root: string;
let repo: TemporaryRepository;
beforeAll(() => {
  root = makeTemporaryFolder("routes");
  repo = makeRepository(root, "shop");
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: repo.path, env: repo.env, encoding: "utf8" });
const site = () => ({ name: "shop", home: true, commonDir: join(repo.path, ".git"), mainRoot: repo.path });
const routeOf = async (name: string, env: Record<string, string> = {}) =>
  (await readRoutes(site(), { ...repo.env, ...env })).find((one) => one.name === name);

test("a way is what git makes of all its settings, and not of one command's", async () => {
  expect(await readRoutes(site(), repo.env)).toEqual([]);
  git("remote", "add", "origin", "short:team/shop");
  git("remote", "set-url", "--add", "origin", "https://ada:secret@mirror.example/shop.git");
  expect(await routeOf("origin")).toEqual({
    name: "origin",
    address: "short:team/shop",
    push: ["short:team/shop", "https://mirror.example/shop.git"],
    settings: [],
  });
  git("config", "url.git@host.example:.insteadOf", "short:");
  git("config", "url.https://push.example/.pushInsteadOf", "short:");
  git("config", "remote.origin.uploadpack", "/evil/pack");
  git("config", "core.sshCommand", "/evil/ssh");
  git("config", "http.https://host.example.proxy", "http://ada:secret@proxy.example");
  git("config", "remote.other.uploadpack", "/not/ours");
  const command = {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "remote.origin.url",
    GIT_CONFIG_VALUE_0: "/else",
  };
  expect(await routeOf("origin", command)).toEqual({
    name: "origin",
    address: "git@host.example:team/shop",
    push: ["https://push.example/team/shop"],
    settings: [
      "core.sshcommand=/evil/ssh",
      "remote.origin.uploadpack=/evil/pack",
      "http.https://host.example.proxy=http://proxy.example",
    ],
  });
});

test("a way has the variables of the shell that decide who answers, for addresses of their kind", async () => {
  const env = {
    GIT_SSH_COMMAND: "/evil/ssh",
    GIT_SSH: "/evil/ssh2",
    GIT_PROXY_COMMAND: "/evil/proxy",
    https_proxy: "http://ada:secret@proxy.example",
    ALL_PROXY: "",
    GIT_SSL_NO_VERIFY: "1",
  };
  const settings = async (address: string) => {
    git("remote", "add", "by-shell", address);
    const route = await routeOf("by-shell", env);
    git("remote", "remove", "by-shell");
    return route?.settings.filter((one) => one.startsWith("environment "));
  };
  const ssh = ["environment GIT_SSH_COMMAND=/evil/ssh", "environment GIT_SSH=/evil/ssh2"];
  expect(await settings("ssh://host.example/shop.git")).toEqual(ssh);
  expect(await settings("git@host.example:shop.git")).toEqual(ssh);
  expect(await settings("https://host.example/shop.git")).toEqual([
    "environment https_proxy=http://proxy.example",
    "environment GIT_SSL_NO_VERIFY=1",
  ]);
  expect(await settings("git://host.example/shop.git")).toEqual([
    "environment GIT_PROXY_COMMAND=/evil/proxy",
  ]);
  expect(await settings("/srv/shop.git")).toEqual([]);
  expect(await settings("file:///srv/shop.git")).toEqual([]);
});

test("this repository, what lies in it, a file, and a program's word cannot be trusted", () => {
  const side = join(root, "side tree");
  git("worktree", "add", "-q", side, "-b", "side");
  const bare = (path: string) =>
    execFileSync("git", ["init", "-q", "--bare", "--template=", path], { env: repo.env });
  const outside = join(root, "outside.git");
  const inside = join(repo.path, "vendor/inside.git");
  bare(outside);
  bare(inside);
  symlinkSync(repo.path, join(root, "link"));
  writeFileSync(join(root, "bundle"), "# v2 git bundle\n");
  const alias = join(root, "alias.git");
  mkdirSync(alias);
  writeFileSync(join(alias, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(alias, "commondir"), `${join(repo.path, ".git")}\n`);
  const borrowed = join(root, "borrowed.git");
  bare(borrowed);
  rmSync(join(borrowed, "refs"), { recursive: true });
  symlinkSync(join(repo.path, ".git/refs"), join(borrowed, "refs"));
  const why = (address: string, settings: string[] = []) =>
    untrustworthy(site(), { name: "x", address, push: [address], settings });
  const own = [
    ...[
      ".",
      repo.path,
      `${repo.path}/.git`,
      `file://${repo.path}`,
      `file://${repo.path.replaceAll(" ", "%20")}/.git/`,
    ],
    ...["../shop", "../link", side, inside, "vendor/inside", ".git/worktrees/side-tree", alias, borrowed],
  ];
  for (const address of own)
    expect([address, why(address)]).toEqual([address, expect.stringMatching(/itself/)]);
  expect(why(join(root, "bundle"))).toMatch(/bundle/);
  expect(why("ext::sh -c true")).toMatch(/git-remote-ext/);
  expect(why("https://host/x.git", ["remote.x.vcs=evil"])).toMatch(/git-remote-evil/);
  expect(why("")).toMatch(/no address/);
  for (const address of [
    outside,
    "../outside",
    "git@host:a.git",
    "https://host/a.git",
    "ssh://host/a",
    "../not-there",
  ])
    expect([address, why(address)]).toEqual([address, undefined]);
});

test.each([
  ["https://host/a.git", "https://host/a.git"],
  ["https://ada@host/a.git", "https://host/a.git"],
  ["https://ada:to@ken@host:8443/a@b.git", "https://host:8443/a@b.git"],
  ["https://github.com@evil.example/a", "https://evil.example/a"],
  ["https://evil.example#@github.com/a", "https://evil.example#@github.com/a"],
  ["https://evil.example?@github.com/a", "https://evil.example?@github.com/a"],
  ["ssh://git@host/a.git", "ssh://git@host/a.git"],
  ["git@host:a.git", "git@host:a.git"],
  ["/a b/*@c?.git", "/a b/*@c?.git"],
])("%s is written down as %s, here and in the hooks", (address, plain) => {
  expect(plainAddress(address)).toBe(plain);
  const rules = readFileSync(fileURLToPath(new URL("../../hooks/rules.sh", import.meta.url)), "utf8");
  const rule = /^plain\(\) \{\n[\s\S]*?^\}\n/m.exec(rules)?.[0] ?? "";
  const said = execFileSync("sh", ["-c", `${rule}plain "$1"`, "sh", address], { encoding: "utf8" });
  expect(said).toBe(`${plain}\n`);
});
