import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Audit, auditIn, guardFromHere, trustOrigin } from "./audited-project.ts";
import { openProject, type Project, type Result } from "./command-line.ts";
import { copyReady, gitIn, ok, type Ready, type Said, typing } from "./ready-task.ts";
import { AUTHENTICATOR, makeKey, type TestKey } from "./ssh-keys.ts";
import { makeRepository } from "./temporary-repository.ts";

/** A project whose decisions are signed, with a bare remote and Ada's key in the user's own folder. */
export interface SignedProject extends Ready {
  home: Project;
  remote: string;
  ada: TestKey;
  git(...args: string[]): string;
  /** A human at a terminal who types this. */
  types(typed: string, ...argv: string[]): Promise<Result>;
  typesWith(said: Said, ...argv: string[]): Promise<Result>;
  audit(...argv: string[]): Promise<Audit>;
  /** What CI sees of what was published: a bare clone, without a network. */
  ci(...argv: string[]): Promise<Audit>;
  /** A task with one commit that may be approved at once; answers its worktree. */
  ready(task: string, path?: string, text?: string): Promise<string>;
  /** The same for another base than main. */
  readyOn(base: string, task: string): Promise<string>;
}

export const PLAIN_KEY = ["-t", "ed25519"];
export const TOUCH_KEY = ["-t", "ed25519-sk", "-w", AUTHENTICATOR];

export const keyFolder = (root: string) => join(root, ".ssh");

/** As a team begins with it: a baseline, a policy, then the first key, then the remote. */
export async function makeSigned(root: string, policy: string, options = PLAIN_KEY): Promise<SignedProject> {
  const project = await makePublished(root, policy, options);
  const { file } = project.ada;
  await ok(project.types("ada", "approver", "add", "--name", "Ada", "--ssh", `${file}.pub`));
  await publish(project);
  return project;
}

/** The same before anybody is enrolled. */
export async function makePublished(
  root: string,
  policy: string,
  options = PLAIN_KEY,
): Promise<SignedProject> {
  mkdirSync(keyFolder(root), { recursive: true });
  const ada = makeKey(keyFolder(root), "ada", options);
  const repository = makeRepository(root, "shop");
  const env = { ...repository.env, SSH_SK_PROVIDER: AUTHENTICATOR };
  const home = openProject({ ...repository, env });
  home.write(".gitignore", ".pawl/state\n.worktrees\n");
  home.commit("README.md", "# Shop\n");
  await ok(home.pawl("note", "add", "The shop"));
  await guardFromHere(home, true, "shop");
  const remote = join(root, "remote.git");
  gitIn({ env }, root, "init", "-q", "--bare", "--template=", "-b", "main", remote);
  home.git("remote", "add", "origin", relative(home.path, remote));
  home.git("push", "-q", "-u", "origin", "main");
  home.git("fetch", "-q");
  await trustOrigin(home, { name: "shop", home: true });
  const project = open({ root, env, repos: [home] }, ada);
  if (policy !== "") {
    home.commit(".pawl/config.yaml", policy);
    await ok(project.types("main", "unlock", "main", "--accept"));
  }
  return project;
}

/** The branch and the records that explain it. */
export async function publish(project: SignedProject): Promise<void> {
  await ok(project.home.pawl("sync", "--yes"));
  project.git("push", "-q", "origin", "main");
}

export function copySigned(from: SignedProject, root: string): SignedProject {
  const copied = copyReady(from, root);
  const file = join(keyFolder(root), "ada");
  return open({ ...copied, env: { ...from.env, HOME: root } }, { ...from.ada, file });
}

/** With a second repository whose decisions are signed as well; nobody is enrolled there yet. */
export async function withApi(project: SignedProject): Promise<SignedProject> {
  const { root, env, home } = project;
  const api = openProject({ ...makeRepository(root, "api"), env });
  api.write(".gitignore", ".pawl/state\n.worktrees\n");
  api.commit(".pawl/config.yaml", "approvals: signed\nchecks: none\n");
  await ok(home.pawl("repo", "add", "../api"));
  await guardFromHere(api, false, "api");
  gitIn({ env }, root, "init", "-q", "--bare", "--template=", "-b", "main", join(root, "api.git"));
  api.git("remote", "add", "origin", "../api.git");
  api.git("push", "-q", "-u", "origin", "main");
  await trustOrigin(api, { name: "api", home: false });
  return open({ root, env, repos: [home, api] }, project.ada);
}

/** A task with a commit in each repository that may be approved at once; answers its id. */
export async function readyInBoth({ env, repos, home }: SignedProject): Promise<string> {
  const named = ["--profile", "light", "--repo", "shop", "--repo", "api", "--json"];
  const { id } = (await ok(home.pawl("task", "new", "Both", ...named))).json.data.task;
  const { run } = (await ok(home.pawl("start", id, "--json"))).json.data;
  for (const [index, repo] of repos.entries()) {
    const tree = join(repo.path, run.repos[index].worktree);
    writeFileSync(join(tree, "both.txt"), `${index}\n`);
    gitIn({ env }, tree, "add", "-Af");
    gitIn({ env }, tree, "commit", "-q", "-m", "Both");
    await ok(repo.pawlIn(tree, {}, "verify", "--", "test", "-d", "."));
  }
  await handOver(home, id, "Both");
  return id;
}

/** What makes the work in a worktree something to approve. */
async function handOver(home: Project, id: string, what: string): Promise<void> {
  await ok(home.pawl("handoff", id, "--what", what, "--next", "Approve it"));
  await ok(home.pawl("snapshot", id));
  await ok(home.pawl("check", id, "--stage", "close"));
}

function open({ root, env, repos }: Ready, ada: TestKey): SignedProject {
  const all = repos.map(({ path }) => openProject({ path, env }));
  const [home] = all as [Project];
  const remote = join(root, "remote.git");
  let clones = 0;
  const ready = { root, env, repos: all };
  const project: SignedProject = {
    ...ready,
    home,
    remote,
    ada,
    git: home.git,
    types: (typed, ...argv) => typing(ready, { typed }, ...argv),
    typesWith: (said, ...argv) => typing(ready, said, ...argv),
    audit: (...argv) => auditIn(home, ...argv),
    async ci(...argv) {
      const path = join(root, `ci ${++clones}.git`);
      rmSync(path, { recursive: true, force: true });
      // Like a clone over a network it has only what the branches have, not what was taken out of them.
      gitIn({ env }, root, "clone", "-q", "--bare", "--no-local", "--template=", remote, path);
      return auditIn(openProject({ path, env }), "--ci", ...argv);
    },
    ready: (task, path = `${task}.txt`, text = `${task}\n`) => makeReadyTask(home, env, task, { path, text }),
    readyOn: (base, task) =>
      makeReadyTask(home, env, task, { path: `${task}.txt`, text: `${task}\n` }, "--base", base),
  };
  return project;
}

async function makeReadyTask(
  home: Project,
  env: Record<string, string>,
  title: string,
  file: { path: string; text: string },
  ...options: string[]
): Promise<string> {
  const made = await ok(home.pawl("task", "new", title, "--profile", "light", ...options, "--json"));
  const { id } = made.json.data.task;
  const started = await ok(home.pawl("start", id, "--json"));
  const worktree = join(home.path, started.json.data.run.repos[0].worktree);
  mkdirSync(dirname(join(worktree, file.path)), { recursive: true });
  writeFileSync(join(worktree, file.path), file.text);
  gitIn({ env }, worktree, "add", "-Af");
  gitIn({ env }, worktree, "commit", "-q", "-m", title);
  await ok(home.pawlIn(worktree, {}, "verify", "--", "test", "-d", "."));
  await handOver(home, id, title);
  return worktree;
}
