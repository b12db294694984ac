import { type Way, withTrusted } from "../../judge/trust.ts";
import { Failure } from "../../model/failure.ts";
import { editRecord } from "../../model/record.ts";
import { repository, type TrustedRoute } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Route } from "../../ports/remotes.ts";
import type { Site } from "../../ports/sites.ts";
import { findRecord } from "../audit/baseline.ts";

/** A way that a human has just confirmed. */
export interface TakenWay {
  way: Way;
  guarded: boolean;
}

export const recordable = ({ way, guarded }: TakenWay): Omit<TrustedRoute, "clone"> => ({
  remote: way.name,
  guarded,
  address: way.digests.address,
  way: way.digests.way,
});

/** Kept readable in this clone only, so that a change can be named; the record is what counts. */
export async function rememberWays(hands: Hands, site: Site, taken: readonly TakenWay[]): Promise<void> {
  const remotes = await hands.git.remotes();
  const others = remotes.remembered(site).filter((one) => !taken.some(({ way }) => way.name === one.name));
  const plain = ({ way: { name, address, push, settings } }: TakenWay): Route => ({
    name,
    address,
    push,
    settings,
  });
  remotes.remember(site, [...others, ...taken.map(plain)]);
}

/** Records what this clone trusts from now on, and what it does no more. */
export async function recordTrust(
  hands: Hands,
  site: Site,
  change: { taken?: readonly TakenWay[]; forgotten?: string },
): Promise<void> {
  const { taken = [], forgotten } = change;
  const names = [...taken.map((one) => one.way.name), ...(forgotten === undefined ? [] : [forgotten])].join(
    ", ",
  );
  await hands.record(
    (reader, at) => {
      const stored = findRecord(reader, site);
      if (!stored) throw notGuarded(site);
      const added = withTrusted(stored.value.trusted, at.clone, taken.map(recordable));
      const trusted = added.filter((one) => one.clone !== at.clone || one.remote !== forgotten);
      if (JSON.stringify(trusted) === JSON.stringify(stored.value.trusted)) return { data: undefined };
      const changes = { trusted, rev: stored.value.rev + 1, updated: at.now };
      const { path, text: before } = stored;
      const text = editRecord(repository, stored, changes);
      const about = forgotten === undefined ? `trusts ${names}` : `no longer trusts ${names}`;
      return {
        data: undefined,
        effects: [{ do: "replace", record: stored.value.id, rev: changes.rev, path, before, text, about }],
      };
    },
    { milestone: `${site.name}: ${forgotten === undefined ? "trusts" : "no longer trusts"} ${names}` },
  );
  const remotes = await hands.git.remotes();
  if (forgotten !== undefined)
    remotes.remember(
      site,
      remotes.remembered(site).filter((one) => one.name !== forgotten),
    );
  await rememberWays(hands, site, taken);
}

function notGuarded({ name }: Site): Failure {
  return new Failure(
    "refused",
    "not_guarded",
    `${name} is not guarded, so trusting a remote has no effect.`,
    {
      hint: "pawl install --profile hooks",
    },
  );
}
