import { hasRef, targetOf } from "../git/refs.ts";
import { readMade } from "../guard/made-policy.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { matchesPattern, refOfBranch } from "../model/naming.ts";
import type { Target } from "../ports/ports.ts";
import type { Site, Sites } from "../ports/sites.ts";

/** Where work is to go, from a few of git's files; git is asked only about a branch that is not there. */
export async function lookAtTargets(
  sites: Sites,
  wanted: readonly { repo: string; branch: string }[],
  env: Environment,
): Promise<Target[]> {
  const found: Target[] = [];
  for (const { repo, branch } of wanted) {
    const site = siteOf(sites, repo);
    if (!site) continue;
    const ref = refOfBranch(branch);
    const exists = hasRef(site.commonDir, ref);
    // A branch that somebody stands on is born with its first commit.
    const unborn = !exists && targetOf(site.commonDir, "HEAD") === ref;
    const made = readMade(site.commonDir);
    found.push({
      repo,
      branch,
      exists,
      others: exists || unborn ? [] : await branchesOf(site, env),
      published: hasRef(site.commonDir, `refs/remotes/origin/${branch}`),
      guarded: made === undefined || made.protected.some((one) => matchesPattern(one, branch)),
    });
  }
  return found;
}

function siteOf(sites: Sites, name: string): Site | undefined {
  try {
    return sites.named(name);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

async function branchesOf(site: Site, env: Environment): Promise<string[]> {
  const { Git } = await import("../git/run-git.ts");
  const { out } = Git.at("shared", env, site).askSync([
    "for-each-ref",
    "--format=%(refname:lstrip=2)",
    "refs/heads/",
  ]);
  return out.split("\n").filter((line) => line !== "");
}
