import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { recordBaseline } from "../../src/flows/audit/baseline.ts";
import { readTrust } from "../../src/flows/trust/read-trust.ts";
import { recordTrust } from "../../src/flows/trust/record-trust.ts";
import type { Hands } from "../../src/ports/hands.ts";
import { openRuntime } from "../../src/runtime/open.ts";
import { handsFor } from "../../src/runtime/perform.ts";
import { openProject, type Project, type Result } from "./command-line.ts";
import { approveIt, copyReady, gitIn, makeReady, ok, type Ready, typing } from "./ready-task.ts";

/** Guarded projects with a remote and one approved merge, as an audit finds them. */
export interface Audited extends Ready {
  home: Project;
  /** The bare repository that `home` publishes to. */
  remote: string;
  git(...args: string[]): string;
  /** Git as somebody runs it who has other settings, or does not care whether it fails. */
  gitWith(env: Record<string, string>, ...args: string[]): { code: number; err: string };
  /** `pawl audit --json`: its codes and the reasons of what it cannot explain. */
  audit(...argv: string[]): Promise<Audit>;
}

export interface Audit {
  code: number;
  findings: string[];
  reasons: string[];
  counts: Record<string, number>;
  warnings: string[];
  result: Result;
}

/** What a procedure works with, in this repository and for a human who types nothing. */
export function handsOf(repo: Project): Hands {
  const around = {
    ...{ cwd: repo.path, env: repo.env, operations: [], oneShot: true, progress: () => {} },
    attended: () => true,
  };
  return handsFor("unlock", openRuntime(around), []);
}

/** What activating the guard does for audits; the hooks themselves are another matter. */
export async function guardFromHere(
  repo: Project,
  home: boolean,
  name: string,
  active = false,
  branch = "main",
): Promise<void> {
  const commit = repo.git("rev-parse", branch);
  await recordBaseline(handsOf(repo), {
    name,
    home,
    active,
    tips: [{ ref: `refs/heads/${branch}`, commit }],
  });
}

/** What a human does on a terminal with `pawl remote trust origin`, without the hooks. */
export async function trustOrigin(repo: Project, site: { name: string; home: boolean }, guarded = false) {
  const hands = handsOf(repo);
  const commonDir = join(repo.path, ".git");
  const at = { ...site, commonDir, mainRoot: repo.path };
  const way = (await readTrust(hands, at)).ways.find((one) => one.name === "origin");
  if (!way) throw new Error("there is no origin");
  await recordTrust(hands, at, { taken: [{ way, guarded }] });
}

const siteOf = (index: number) => ({ name: index === 0 ? "shop" : "api", home: index === 0 });

/** With a baseline, then a merge that a human approved, published together with the state. */
export async function makeAudited(root: string, count: 1 | 2): Promise<Ready> {
  const ready = await makeReady(root, count);
  for (const [index, repo] of ready.repos.entries()) {
    const { name, home } = siteOf(index);
    await guardFromHere(repo, home, name);
    const remote = join(root, `remote ${index}.git`);
    gitIn(ready, root, "init", "-q", "--bare", "--template=", "-b", "main", remote);
    repo.git("remote", "add", "origin", relative(repo.path, remote));
    repo.git("push", "-q", "-u", "origin", "main");
    repo.git("fetch", "-q");
    await trustOrigin(repo, siteOf(index));
  }
  const done = await approveIt(ready, "--push");
  if (done.code !== 0) throw new Error(done.out);
  await ok((ready.repos[0] as Project).pawl("sync", "--yes"));
  return ready;
}

/** Each has a remote of its own, at the same place beside it. */
export function copyAudited(from: Ready, root: string): Audited {
  const ready = copyReady(from, root);
  return open(ready, ready.repos[0] as Project, join(root, "remote 0.git"));
}

function open(ready: Ready, home: Project, remote: string): Audited {
  return {
    ...ready,
    home,
    remote,
    git: home.git,
    gitWith: (env, ...args) => {
      const run = spawnSync("git", args, { cwd: home.path, env: { ...ready.env, ...env }, encoding: "utf8" });
      return { code: run.status ?? -1, err: run.stderr };
    },
    audit: (...argv) => auditIn(home, ...argv),
  };
}

export async function auditIn(project: Project, ...argv: string[]): Promise<Audit> {
  const result = await project.pawl("audit", ...argv, "--json");
  const { audit } = result.json.data ?? result.json.error?.details ?? {};
  const branches: { commits: { reason?: string }[]; counts: Record<string, number> }[] =
    audit?.branches ?? [];
  const counts: Record<string, number> = {};
  for (const one of branches)
    for (const [name, count] of Object.entries(one.counts)) counts[name] = (counts[name] ?? 0) + count;
  return {
    code: result.code,
    findings: (audit?.findings ?? []).map((one: { code: string }) => one.code),
    reasons: branches.flatMap((one) => one.commits.flatMap((each) => each.reason ?? [])),
    counts,
    warnings: result.json.warnings ?? [],
    result,
  };
}

/** A clone of what was published, with the state beside it, as a check on a server makes it. */
export function cloneForCheck(audited: Audited, name: string, ...options: string[]): Project {
  const path = join(audited.root, name);
  execFileSync("git", ["clone", "-q", "--template=", ...options, audited.remote, path], {
    env: audited.env,
    stdio: "pipe",
  });
  return openProject({ path, env: audited.env });
}

export const unlockIt = (ready: Ready, ...argv: string[]) =>
  typing(ready, { typed: "main" }, "unlock", "main", ...argv);

/** What the guard leaves in a repository, made by hand: hooks that do nothing, and what it remembers of them. */
export function pretendGuard(repo: Project): { hook: string; before: string } {
  const common = join(repo.path, ".git");
  const hook = join(common, "pawl/hooks/reference-transaction");
  const before = join(common, "pawl/before");
  mkdirSync(dirname(hook), { recursive: true });
  writeFileSync(hook, "#!/bin/sh\n# Written by pawl: stands for the guard.\nexit 0\n", { mode: 0o755 });
  writeFileSync(before, JSON.stringify({ written: ["pawl/hooks/reference-transaction"] }));
  repo.git("config", "core.hooksPath", dirname(hook));
  if (!existsSync(hook)) throw new Error("no hook");
  return { hook, before };
}
