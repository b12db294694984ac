import { isWrong } from "../../judge/audit/classify.ts";
import type { AuditedBranch } from "../../judge/audit/judge.ts";
import { quoted } from "../../model/text.ts";
import type { Next } from "../../ports/operation.ts";
import type { Site, Sites } from "../../ports/sites.ts";

/**
 * The command that settles commits which reached a guarded remote, or CI, without an approval. A commit that
 * names an approval waits for the records of the clone that made it. One that a host merged or squashed names
 * none, so only a human who has read it can accept it.
 */
export function whatSettles(branches: readonly AuditedBranch[], sites: Sites, ci: boolean): Next | undefined {
  const open = branches.flatMap(({ repo, ref, commits }) =>
    commits
      .filter((one) => isWrong(one) && (ci || one.class === "unapproved"))
      .map(({ commit }) => ({ repo, ref, isNamed: commit.names.length > 0 })),
  );
  const [first] = open;
  if (!first) return undefined;
  if (open.some((one) => one.isNamed))
    return { command: "pawl sync", reason: "gets the records that explain approvals" };
  const branch = first.ref.replace(/^refs\/(?:heads|remotes\/[^/]+)\//, "");
  const accept = `pawl unlock ${quoted(branch)} --accept`;
  const why = "a human who has read it accepts it, unless `pawl sync` brings its approval; then: pawl sync";
  if (ci) return { command: accept, reason: `in a clone, not here: ${why}` };
  const there = toGo(sites, first.repo);
  if (first.ref.startsWith("refs/heads/")) return { command: `${there}${accept}`, reason: why };
  return {
    command: `${there}git pull --ff-only`,
    reason: `on ${branch}; the next audit then says how to accept it`,
  };
}

/** An unlock applies to the repository of the current folder. */
function toGo(sites: Sites, repo: string): string {
  const site: Site | undefined = sites.all().find((one) => one.name === repo);
  if (!site || site.commonDir === sites.here().commonDir) return "";
  return `cd ${quoted(site.mainRoot ?? site.commonDir)} && `;
}
