import type { TrustedRemote } from "../model/config.ts";
import type { TrustedRoute } from "../model/records/run.ts";
import { FROM_SHELL } from "../model/remote-address.ts";
import type { Route } from "../ports/remotes.ts";

/** A route with the digests that identify it in records. */
export interface Way extends Route {
  digests: { address: string; way: string };
}

export interface TrustFacts {
  /** Every remote as it is now, with the reason if nobody may trust it. */
  routes: readonly (Way & { never: string | undefined })[];
  /** The routes that this clone remembers; only those that a record names count. */
  remembered: readonly Way[];
  /** What humans confirmed, for this clone and for others of the same repository. */
  recorded: readonly TrustedRoute[];
  clone: string | undefined;
  /** `remotes:` of the policy in force, and of copies, which can only ask for more. */
  policy: readonly TrustedRemote[] | undefined;
  copies: readonly TrustedRemote[];
  /** The remote that the protected branch follows. */
  upstream: string | undefined;
}

export type Standing =
  /** What it has counts as explained. */
  | "trusted"
  /**
   * Nobody was asked yet, as in a clone of an older pawl: the guard accepts its branches, but an audit does
   * not rely on it.
   */
  | "unconfirmed"
  /** It no longer points where a human confirmed. */
  | "changed"
  /** A human confirmed it, but the policy names other remotes. */
  | "unlisted"
  | "never"
  | "untrusted";

export interface RemoteTrust {
  name: string;
  standing: Standing;
  /** Whatever reaches its protected branches needs an approval. */
  guarded: boolean;
  /** The confirmed route if it is known, else the current one. */
  route: Route;
  /** Words to follow the remote's name. */
  why: string | undefined;
}

/** How far each remote can be trusted, from facts alone. */
export function judgeTrust(facts: TrustFacts): RemoteTrust[] {
  const own = facts.recorded.filter((one) => one.clone === facts.clone);
  return facts.routes.map((now): RemoteTrust => {
    const confirmed = own.find((one) => one.remote === now.name) ?? vouchedFor(now, facts.recorded);
    const known = facts.remembered.find((one) => one.digests.way === confirmed?.way && one.name === now.name);
    const route = known ?? now;
    const about = { name: now.name, guarded: isGuarded(now.name, confirmed, facts), route };
    const is = (standing: Standing, why?: string): RemoteTrust => ({ ...about, standing, why });
    if (now.never !== undefined) return is("never", now.never);
    if (confirmed === undefined)
      return own.length === 0 && isProposed(now.name, facts) ? is("unconfirmed") : is("untrusted");
    if (
      confirmed.clone === facts.clone &&
      confirmed.way !== now.digests.way &&
      !(known && isLess(known, now))
    )
      return is("changed", known && difference(known, now));
    if (facts.policy && !facts.policy.some((one) => one.name === now.name))
      return is("unlisted", "is not one of the remotes that the policy names");
    return is("trusted");
  });
}

/**
 * The same route without some variables of the confirming human's shell: leaving them out leads nowhere else.
 */
function isLess(known: Route, now: Route): boolean {
  const lasting = known.settings.filter((one) => !one.startsWith(FROM_SHELL));
  return (
    known.address === now.address &&
    JSON.stringify(known.push) === JSON.stringify(now.push) &&
    lasting.every((one) => now.settings.includes(one)) &&
    now.settings.every((one) => known.settings.includes(one))
  );
}

function isGuarded(
  name: string,
  confirmed: TrustedRoute | undefined,
  { policy, copies }: TrustFacts,
): boolean {
  const named = [...(policy ?? []), ...copies].filter((one) => one.name === name);
  return confirmed?.guarded === true || named.some((one) => one.guarded);
}

/** Another clone's human confirmed the same address, and no setting here changes who answers. */
function vouchedFor(way: Way, recorded: readonly TrustedRoute[]): TrustedRoute | undefined {
  if (!isPlain(way)) return undefined;
  return recorded.find((one) => one.remote === way.name && one.address === way.digests.address);
}

/** Only the address decides who answers, and pushes go to the same place. */
export const isPlain = ({ address, push, settings }: Route) =>
  settings.length === 0 && push.every((one) => one === address);

/** Applies only while a clone has confirmed nothing: confirming one remote says nothing about the others. */
function isProposed(name: string, { policy, upstream }: TrustFacts): boolean {
  return policy ? policy.some((one) => one.name === name) : name === upstream;
}

function difference(before: Route, now: Route): string {
  if (before.address !== now.address) return `was ${before.address} and is now ${now.address}`;
  const pushes = (route: Route) => route.push.join(" ") || "nowhere";
  if (pushes(before) !== pushes(now))
    return `was pushed to ${pushes(before)} and is now pushed to ${pushes(now)}`;
  const added = now.settings.filter((one) => !before.settings.includes(one));
  const removed = before.settings.filter((one) => !now.settings.includes(one));
  return `is now reached differently: ${[...added, ...removed.map((one) => `no ${one}`)].join(", ")}`;
}

/** The list with what one clone now trusts; returns the same array if nothing is new. */
export function withTrusted(
  known: readonly TrustedRoute[],
  clone: string,
  added: readonly Omit<TrustedRoute, "clone">[],
): TrustedRoute[] {
  const others = known.filter(
    (one) => one.clone !== clone || !added.some((each) => each.remote === one.remote),
  );
  const list = [...others, ...added.map((one) => ({ clone, ...one }))];
  return JSON.stringify(list) === JSON.stringify(known) ? (known as TrustedRoute[]) : list;
}
