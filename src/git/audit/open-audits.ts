import { existsSync } from "node:fs";
import { join } from "node:path";
import { textIfPresent } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { STATE_REF } from "../../model/naming.ts";
import { LEDGER_FILE, POLICY_FILE } from "../../model/paths.ts";
import type { Audits, Branching, BranchTip, Stretch } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import { readBlobs } from "../cat-file.ts";
import { isGuarded, readGuardedTips, readPassed } from "../guard-files.ts";
import { targetOf } from "../refs.ts";
import { Git } from "../run-git.ts";
import { hasFetchedCopies } from "./fetched-copies.ts";
import { countFirstParents, followMove, known, readHistory, readIds } from "./history.ts";
import { HistoryGit } from "./history-git.ts";
import { mergedTree } from "./merged-tree.ts";
import { lastLogged, readLog } from "./reflog.ts";
import { askRemotes } from "./remote-tips.ts";
import { readRemoved, readStateTexts, readVersions } from "./state-texts.ts";
import { type GuardWitness, parentsOf, readTraces, shallowCommits } from "./traces.ts";

const [HEADS, ORIGIN] = ["refs/heads/", "refs/remotes/origin/"];

interface AuditsAround {
  env: Environment;
  cloneOf(commonDir: string): string | undefined;
  guard: GuardWitness;
  /** A line for whoever waits for a remote. */
  progress(line: string): void;
  /** The git directory of the state that this clone uses. */
  stateDir(): string;
}

export function openAudits({ env, cloneOf, guard, progress, stateDir }: AuditsAround): Audits {
  const at = (site: Site) => new HistoryGit(site, env);
  return {
    checkWhole: (site) => checkWhole(at(site)),
    branching: (site, copies) => readBranching(at(site), copies),
    resolve: (site, name) => at(site).commitOf(name),
    history: (site, stretch) => readHistory(at(site), stretch),
    count: (site, tip) => countFirstParents(at(site), tip),
    ids: (site, stretch) => readIds(at(site), stretch),
    contains: async (site, tip, commit) =>
      (await known(at(site), [commit])).length > 0 && at(site).isAncestor(commit, tip),
    log: (site, ref) => readLog(site.commonDir, ref),
    lastLogged: (site, ref) => lastLogged(site.commonDir, ref),
    cloneOf: (site) => cloneOf(site.commonDir),
    guardedTips: (site) => readGuardedTips(site.commonDir),
    passed: (site) => readPassed(site.commonDir),
    follow: (site, move, without) => followMove(at(site), move, without),
    remotes: (site, ref, remotes) => askRemotes(at(site), ref, remotes, progress),
    traces: (site, wanted) => readTraces(at(site), wanted, guard),
    guardActive: (site) => isGuarded(site.commonDir),
    mergedTree: (site, onto, head) => mergedTree(at(site), onto, head),
    fileAt: async (site, commit, path) => (await textsAt(at(site), commit, [path]))[0],
    changing: (site, stretch, paths) => readChanging(at(site), stretch, paths),
    common: (site, commits) => commonHistory(at(site), commits),
    async recordVersions(site, kind, commit) {
      if (commit !== undefined) return readVersions(at(site), commit, kind);
      const folder = stateDir();
      if (!existsSync(folder)) return [];
      const own = Git.of("history", env, folder);
      const tip = await own.commitOf(STATE_REF);
      return tip === undefined ? [] : readVersions(own, tip, kind);
    },
    removedRecords: (site, old, fresh) => readRemoved(at(site), old, fresh),
    stateTexts: (site, commit, wanted) => readStateTexts(at(site), commit, wanted),
  };
}

async function readChanging(
  git: HistoryGit,
  { tip, without }: Stretch,
  paths: readonly string[],
): Promise<string[]> {
  const limits = (await known(git, without)).map((one) => `^${one}`);
  const changed = await git.must(["rev-list", "--first-parent", tip, ...limits, "--", ...paths]);
  return changed.split("\n").filter(Boolean);
}

async function commonHistory(git: HistoryGit, commits: readonly string[]): Promise<string[]> {
  const [first, ...others] = [...new Set(commits)];
  if (first === undefined || others.length === 0) return [...commits];
  if ((await known(git, commits)).length < others.length + 1) return [];
  const { code, out } = await git.ask(["merge-base", "--octopus", "--all", first, ...others]);
  return code === 0 ? out.split("\n").filter(Boolean) : [];
}

/** A history that was cut off says nothing about what was before; one that was only hidden is looked at in full. */
async function checkWhole(git: HistoryGit): Promise<void> {
  for (const id of shallowCommits(git.site.commonDir)) {
    const parents = await parentsOf(git, id);
    if ((await known(git, parents)).length === parents.length) continue;
    throw new Failure("unavailable", "shallow_clone", `${git.site.name} has only part of its history.`, {
      hint: "Fetch the rest: git fetch --unshallow (in GitHub Actions: `fetch-depth: 0`)",
      details: { repo: git.site.name },
    });
  }
}

async function readBranching(git: HistoryGit, copies: "own" | "remote"): Promise<Branching> {
  const own = await tips(git, HEADS);
  const isFetched = await hasFetchedCopies(git);
  const theirs = copies === "remote" && isFetched ? await tips(git, ORIGIN) : [];
  const { commonDir, mainRoot } = git.site;
  // A check is about what was published, wherever that differs from a local branch of the same name.
  const branches = [...theirs, ...own.filter((one) => !theirs.some((other) => other.ref === one.ref))];
  const head = ((isFetched && targetOf(commonDir, `${ORIGIN}HEAD`)) || "").slice(ORIGIN.length);
  // Of a bare repository its own HEAD says which branch people get.
  const bareHead = mainRoot === undefined ? targetOf(commonDir, "HEAD") : undefined;
  const likely = [`${HEADS}${head}`, bareHead ?? "", `${HEADS}main`, `${HEADS}master`];
  const base = likely.flatMap((ref) => branches.find((one) => one.ref === ref) ?? [])[0];
  const [committed, installed] = base ? await textsAt(git, base.tip, [POLICY_FILE, LEDGER_FILE]) : [];
  return {
    branches: branches.filter((one) => one.ref !== STATE_REF),
    defaultBranch: head || undefined,
    base: base?.ref,
    committed,
    installed,
    copy:
      mainRoot === undefined || copies === "remote" ? undefined : textIfPresent(join(mainRoot, POLICY_FILE)),
  };
}

/** Undefined where the commit has no such file; a file that cannot be read is an error, not a missing one. */
async function textsAt(
  git: HistoryGit,
  commit: string,
  paths: readonly string[],
): Promise<(string | undefined)[]> {
  const listed = await git.must(["ls-tree", "-z", commit, "--", ...paths]);
  const entries = [...listed.matchAll(/\d+ (\w+) ([0-9a-f]+)\t([^\0]+)\0/g)];
  if (entries.length === 0) return paths.map(() => undefined);
  const files = entries.flatMap(([, type, id = ""]) => (type === "blob" ? [id] : []));
  const contents = await readBlobs(git, `The history of ${git.site.name} could not be read`, files);
  const idOf = new Map(entries.map(([, , id = "", path = ""]) => [path, id]));
  return Promise.all(
    paths.map(async (path) => {
      const id = idOf.get(path);
      // Git itself says what is wrong with one that is there and has no content.
      return id && (contents.get(id)?.toString("utf8") ?? (await git.must(["cat-file", "blob", id])));
    }),
  );
}

async function tips(git: HistoryGit, folder: string): Promise<BranchTip[]> {
  const format = "--format=%(objectname) %(objecttype) %(refname) %(symref)";
  const out = await git.must(["for-each-ref", format, folder]);
  return out.split("\n").flatMap((line) => {
    const [tip = "", type, source = "", symref] = line.split(" ");
    if (type !== "commit" || source === `${ORIGIN}HEAD`) return [];
    const ref = `${HEADS}${source.slice(folder.length)}`;
    return [{ ref, source, tip, standsFor: symref || undefined }];
  });
}
