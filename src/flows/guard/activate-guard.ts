import { isShownHuman } from "../../model/actor.ts";
import { Failure } from "../../model/failure.ts";
import { unguarded } from "../../model/guard-policy.ts";
import type { GuardActivation, Loosening } from "../../ports/guard.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { recordBaseline } from "../audit/baseline.ts";
import { lettingIn, readTrust } from "../trust/read-trust.ts";
import { recordable, rememberWays, type TakenWay } from "../trust/record-trust.ts";

/**
 * Puts the guard in place, or back into place, and records what it guards from here on. A human who asks for it gets
 * hooks that are as the policy is; an agent gets none that demand less than the ones before.
 */
export async function activateGuard(
  hands: Hands,
  site: Site,
  taken: readonly TakenWay[] = [],
): Promise<GuardActivation> {
  const loosening = await mayLoosen(hands, "always");
  const { remotes } = await readTrust(hands, site);
  const others = lettingIn(remotes).filter((one) => !taken.some(({ way }) => way.name === one.name));
  const done = (await hands.git.guard()).activate(
    site,
    [...others, ...taken.map((one) => one.way)],
    loosening,
  );
  await record(hands, site, done, taken);
  return done;
}

/** Rewrites hooks whose policy, place or setting has changed. What cannot be done now is reported and stops nobody. */
export async function renewGuards(hands: Hands): Promise<string[]> {
  const guard = await hands.git.guard();
  const sites = await hands.git.sites();
  const said: string[] = [];
  const [here, all] = [sites.here(), sites.all()];
  for (const site of all.some((one) => one.commonDir === here.commonDir) ? all : [here, ...all]) {
    if (!guard.mayBeOutdated(site)) continue;
    try {
      const { remotes } = await readTrust(hands, site);
      const done = guard.renew(site, lettingIn(remotes), await mayLoosen(hands, "explained"));
      await record(hands, site, done, []);
      const { changed, notes } = done;
      if (changed.length > 0)
        said.push(
          `The hooks of ${site.name} were rewritten, because its policy, place or settings changed; other hooks keep running.`,
        );
      said.push(...notes);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      said.push(`The hooks of ${site.name} could not be rewritten: ${error.message}`);
    }
  }
  return said;
}

async function mayLoosen(hands: Hands, human: Loosening): Promise<Loosening> {
  return isShownHuman(await hands.situation("write")) ? human : "never";
}

async function record(
  hands: Hands,
  site: Site,
  { tips, patterns }: GuardActivation,
  taken: readonly TakenWay[],
): Promise<void> {
  const { name, home } = site;
  await recordBaseline(hands, { name, home, tips, patterns, active: true, trusted: taken.map(recordable) });
  if (taken.length > 0) await rememberWays(hands, site, taken);
}

/** What keeps the guard of these repositories from working, for whoever starts to work there. */
export async function guardProblems(hands: Hands, sites: readonly Site[]): Promise<string[]> {
  const guard = await hands.git.guard();
  return sites.flatMap((site) =>
    guard
      .inspect(site)
      .problems.filter((one) => !/^(?:policy_stricter|unlocked|overtaken)$/.test(one.code))
      .map(({ where, message, command }) => unguarded(`${where}: ${message}`, command)),
  );
}
