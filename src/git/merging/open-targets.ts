import { join } from "node:path";
import { textIfPresent } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { refOfBranch } from "../../model/naming.ts";
import type { Site } from "../../ports/sites.ts";
import type { Obstacle, Story, Targets } from "../../ports/targets.ts";
import { emptyTree } from "../object-ids.ts";
import { Git } from "../run-git.ts";
import { changedPaths } from "./changed-paths.ts";
import { involvedCheckouts } from "./checkouts.ts";
import { findLanded } from "./landed.ts";
import { findObstacles } from "./obstacles.ts";

const MOST_COMMITS = 20;
const STAT_WIDTH = "100";

export function openTargets(env: Environment): Targets {
  const at = (site: Site) => Git.of("quiet", env, site.commonDir);
  return {
    unsupported: (site, branch) => unsupported(at(site), site, branch),
    tip: (site, ref) => at(site).commitOf(ref),
    treeOf: (site, commit) =>
      at(site).expect("The tree could not be read", ["rev-parse", "--verify", `${commit}^{tree}`]),
    async contains(site, commit, ancestor) {
      const { code, err } = await at(site).ask(["merge-base", "--is-ancestor", ancestor, commit]);
      if (code <= 1) return code === 0;
      throw new Failure(
        "unreadable",
        "commit_missing",
        `git cannot tell whether ${ancestor.slice(0, 12)} is part of ${commit.slice(0, 12)} in ${site.name}.`,
        { hint: `git said: ${err.trim().slice(0, 200)}`, details: { repo: site.name } },
      );
    },
    async isStraight(site, base, head) {
      const range = ["rev-list", "--first-parent", `${base}..${head}`];
      const line = await at(site).expect("The commits could not be read", range);
      const first = line.split("\n").at(-1) ?? "";
      return first !== "" && (await at(site).commitOf(`${first}^1`)) === base;
    },
    async timesChanged(site, base, head, path) {
      // A merge changes a file where no parent of it has it so; git leaves out by itself what is changed back later.
      const options = ["-c", "--full-history", "--format=", "--name-only", "--no-show-signature"];
      const found = ["log", ...options, `${base}..${head}`, "--", path];
      return (await at(site).expect("The commits could not be read", found)).split("\n").filter(Boolean)
        .length;
    },
    async apart(site, left, right) {
      const counts = await at(site).expect("The commits could not be counted", [
        "rev-list",
        "--left-right",
        "--count",
        `${left}...${right}`,
      ]);
      const [onlyLeft = 0, onlyRight = 0] = counts.split(/\s+/).map(Number);
      return { left: onlyLeft, right: onlyRight };
    },
    async changedSince(site, other, commit) {
      const git = at(site);
      const split = (await git.line(["merge-base", other, commit])) ?? emptyTree(commit.length);
      return (await changedPaths(git, split, commit)).map((one) => one.path);
    },
    landed: (site, landing) => findLanded(at(site), landing),
    async follow(site, branch, tracking) {
      const what = `${branch} of ${site.name} could not be fast-forwarded`;
      const [checkout] = involvedCheckouts(site, branch).checkouts;
      const git = checkout ? Git.in("user", env, checkout.root) : Git.of("user", env, site.commonDir);
      if (checkout) await git.expect(what, ["merge", "--quiet", "--ff-only", tracking]);
      else await git.expect(what, ["fetch", "--quiet", ".", `${tracking}:${refOfBranch(branch)}`]);
    },
    patch(site, base, head) {
      return at(site).expect("The difference could not be read", ["diff", ...plainly(site), base, head]);
    },
    story: (site, base, head) => storyOf(at(site), site, base, head),
    checkouts: async (site, branch) => involvedCheckouts(site, branch).checkouts.map((one) => one.root),
    obstacles: (site, movement) => findObstacles(env, site, movement),
  };
}

/**
 * A diff that shows every change. Attributes of the clone itself are in no commit and can hide any file behind "Binary
 * files differ"; where there are some, everything is shown as text.
 */
function plainly({ commonDir }: Site): string[] {
  const attributes = textIfPresent(join(commonDir, "info", "attributes")) ?? "";
  return [
    ...["--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"],
    ...(attributes.trim() === "" ? [] : ["--text"]),
  ];
}

async function storyOf(git: Git, site: Site, base: string, head: string): Promise<Story> {
  const range = `${base}..${head}`;
  const total = await git.expect("The commits could not be counted", ["rev-list", "--count", range]);
  const log = await git.names("The commits could not be read", [
    "log",
    "-z",
    `--max-count=${MOST_COMMITS}`,
    "--format=%h %s",
    "--no-color",
    range,
  ]);
  const stat = await git.expect("The difference could not be read", [
    "diff",
    `--stat=${STAT_WIDTH}`,
    ...plainly(site),
    base,
    head,
  ]);
  return {
    total: Number(total),
    commits: log.map((entry) => ({
      id: entry.slice(0, entry.indexOf(" ")),
      subject: entry.slice(entry.indexOf(" ") + 1),
    })),
    stat: stat.split("\n").filter((line) => line !== ""),
  };
}

async function unsupported(git: Git, site: Site, branch: string): Promise<Obstacle | undefined> {
  const say = (what: string, hint: string): Obstacle => ({
    code: "unsupported_repository",
    message: `${site.name} ${what}.`,
    hint,
    details: { repo: site.name },
  });
  if ((await git.line(["config", "core.worktree"])) !== undefined)
    return say(
      "has its working tree elsewhere (core.worktree)",
      "Pawl merges where the working tree is beside its .git, or in linked worktrees.",
    );
  const other = await git.line(["symbolic-ref", "-q", refOfBranch(branch)]);
  if (other !== undefined)
    return say(`has ${branch} only as an alias of ${other}`, `Make ${branch} a real branch.`);
  return undefined;
}
