import { judgeTrust, type RemoteTrust, type Way } from "../../judge/trust.ts";
import type { TrustedRemote } from "../../model/config.ts";
import { refOfBranch } from "../../model/naming.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import { USUAL } from "../../model/protection.ts";
import type { RepositoryRecord } from "../../model/records/run.ts";
import type { Branching } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Route } from "../../ports/remotes.ts";
import type { Site } from "../../ports/sites.ts";
import { findRecord } from "../audit/baseline.ts";

/** Everything that decides what the remotes of one clone are worth. */
export interface TrustSituation {
  remotes: RemoteTrust[];
  /** The same remotes as they are now, with the digests that a record would keep. */
  ways: Way[];
  /** The record of this repository; undefined before the first one. */
  record: RepositoryRecord | undefined;
  clone: string | undefined;
  policy: readonly TrustedRemote[] | undefined;
}

/** What is needed to know it, by a command that only reads as well. */
export type TrustHands = Pick<Hands, "git" | "look" | "sha256">;

/** What each remote of a repository is worth: from git's settings, the records and the policy on the protected tip. */
export async function readTrust(hands: TrustHands, site: Site): Promise<TrustSituation> {
  const audits = await hands.git.audits();
  const remotes = await hands.git.remotes();
  const branching = await audits.branching(site, "own");
  const { policy, copies, record } = await hands.look((reader) => {
    const read = (where: string, text: string | undefined) =>
      text === undefined ? undefined : reader.config(where, text);
    const committed = read(`${POLICY_FILE} on the protected branch of ${site.name}`, branching.committed);
    const copy = read(POLICY_FILE, branching.copy);
    return {
      policy: committed?.remotes,
      copies: copy?.remotes ?? [],
      record: findRecord(reader, site)?.value,
    };
  });
  const ways = await withDigests(hands, await remotes.routes(site));
  const clone = audits.cloneOf(site);
  return {
    remotes: judgeTrust({
      routes: ways.map((way) => ({ ...way, never: remotes.untrustworthy(site, way) })),
      remembered: await withDigests(hands, remotes.remembered(site)),
      recorded: record?.trusted ?? [],
      clone,
      policy,
      copies,
      upstream: await upstreamOf(hands, site, branching, ways),
    }),
    ways,
    record,
    clone,
    policy,
  };
}

async function withDigests(hands: TrustHands, routes: readonly Route[]): Promise<Way[]> {
  const ways: Way[] = [];
  for (const route of routes) {
    const { name, address, push, settings } = route;
    const way = await hands.sha256(JSON.stringify([name, address, push, settings]));
    ways.push({ ...route, digests: { address: await hands.sha256(address), way } });
  }
  return ways;
}

/** The remote that the protected branch follows, or the only one there is. */
async function upstreamOf(
  hands: TrustHands,
  site: Site,
  { branches, defaultBranch }: Branching,
  routes: readonly Route[],
): Promise<string | undefined> {
  const [first, ...others] = routes;
  if (first === undefined) return undefined;
  const known = [defaultBranch ?? "", ...USUAL].find((name) =>
    branches.some((one) => one.ref === refOfBranch(name)),
  );
  const own = await (await hands.git.remotes()).remoteOf(site, known ?? defaultBranch ?? "main");
  return own?.remote ?? (others.length === 0 ? first.name : undefined);
}

/** What hooks let in: the remotes that a human confirmed, and those of a clone in which nobody was asked yet. */
export const lettingIn = (remotes: readonly RemoteTrust[]): Route[] =>
  remotes
    .filter(({ standing }) => standing === "trusted" || standing === "unconfirmed" || standing === "changed")
    .map((one) => one.route);
