import { recall, remember } from "../files/cache.ts";
import type { TrustHands } from "../flows/trust/read-trust.ts";
import { tipOf } from "../git/refs.ts";
import { Failure } from "../model/failure.ts";
import { refOfBranch } from "../model/naming.ts";
import type { Run } from "../model/records/run.ts";
import type { Runtime } from "./open.ts";
import { withYaml } from "./with-yaml.ts";

/**
 * Which runs' work came into its base elsewhere. Git has to compare patches for that, so it is asked only where a base
 * went on since the run began, and once for the same tips.
 */
export async function tellLanded(runtime: Runtime, runs: readonly Run[]): Promise<Map<string, string>> {
  const sites = await runtime.git.sites();
  const found = new Map<string, string>();
  for (const value of runs) {
    const tips = tipsOf(sites.all(), value);
    if (tips === undefined) continue;
    const name = `landed ${value.id}`;
    const known = recall<string>(runtime.home.local, name, tips);
    const said = known ?? (await ask(runtime, value));
    if (known === undefined) remember(runtime.home.local, name, tips, said);
    if (said !== "") found.set(value.id, said);
  }
  return found;
}

/** The tips that decide it, as one text; undefined where nothing of it can be in a base yet. */
function tipsOf(sites: readonly { name: string; commonDir: string }[], value: Run): string | undefined {
  const tips: string[] = [];
  let moved = false;
  for (const { name, branch, base_branch, base_head } of value.repos) {
    const commonDir = sites.find((one) => one.name === name)?.commonDir;
    if (commonDir === undefined) return undefined;
    const bases = [refOfBranch(base_branch), `refs/remotes/origin/${base_branch}`].map((ref) =>
      tipOf(commonDir, ref),
    );
    const seen = [base_head, ...value.refreshed.map((one) => one.base), undefined];
    moved ||= bases.some((one) => !seen.includes(one));
    tips.push(name, tipOf(commonDir, refOfBranch(branch)) ?? "", ...bases.map((one) => one ?? ""));
  }
  return moved ? tips.join(" ") : undefined;
}

async function ask(runtime: Runtime, value: Run): Promise<string> {
  const { describeLanded, lookForLanded } = await import("../flows/finish/finish-landed.ts");
  const at = await runtime.situation("read");
  const hands: TrustHands = {
    git: runtime.git,
    look: (read) => withYaml(runtime, async () => read(runtime.reader(), at)),
    sha256: async (text) => (await import("../files/digest.ts")).sha256(text),
  };
  try {
    const landed = await lookForLanded(hands, value);
    return landed ? describeLanded(landed) : "";
  } catch (error) {
    // A repository that cannot be looked at is told by whatever has to do with it.
    if (error instanceof Failure) return "";
    throw error;
  }
}
