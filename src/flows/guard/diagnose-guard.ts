import { ENROL, enrolled, WAY_OUT, whyNobodyCanSign } from "../../judge/keys.ts";
import { REPAIR } from "../../model/guard-policy.ts";
import { quoted } from "../../model/text.ts";
import type { Diagnosis, Specialist } from "../../ports/doctor.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { namesOf, readLedger } from "../audit/ledger.ts";
import { protectedKeys } from "../trust/change-approvers.ts";
import { readTrust } from "../trust/read-trust.ts";
import { activateGuard } from "./activate-guard.ts";

/** Whether the hooks of every repository of this state hold; the first one is where we stand. */
export const guardSpecialist: Specialist = {
  async examine(hands) {
    const found: Diagnosis[] = [];
    for (const site of await knownSites(hands)) found.push(...(await examineSite(hands, site)));
    return found;
  },

  async repair(hands, found) {
    const guard = await hands.git.guard();
    const done: string[] = [];
    for (const site of await knownSites(hands)) {
      const wanted = guard.inspect(site).installed || (await isRecorded(hands, site));
      if (!wanted || !found.some((one) => one.command === REPAIR)) continue;
      const { changed, notes } = await activateGuard(hands, site);
      if (changed.length > 0) done.push(`The guard of ${site.name} was restored.`);
      done.push(...notes);
    }
    return done;
  },
};

async function knownSites(hands: Hands): Promise<Site[]> {
  const sites = await hands.git.sites();
  const here = sites.here();
  return [here, ...sites.all().filter((one) => one.commonDir !== here.commonDir)];
}

async function examineSite(hands: Hands, site: Site): Promise<Diagnosis[]> {
  const { installed, problems } = (await hands.git.guard()).inspect(site);
  // What is stricter than it has to be, or what a human opened, is nothing to put right.
  const level = (code: string): Diagnosis["level"] =>
    /^(?:policy_stricter|unlocked|overtaken)$/.test(code) ? "note" : "problem";
  const where = site.mainRoot ?? site.commonDir;
  const recorded = await isRecorded(hands, site);
  if (installed) {
    const message = "The hooks are in place, but no record says since when: an installation was interrupted.";
    const unrecorded: Diagnosis = { code: "not_recorded", level: "problem", where, message, command: REPAIR };
    return [
      ...(recorded ? [] : [unrecorded]),
      ...problems.map((one) => ({ ...one, level: level(one.code) })),
      ...(problems.some((one) => one.code === "policy_unreadable")
        ? []
        : [...(await examineRemotes(hands, site)), ...(await examineKeys(hands, site))]),
    ];
  }
  if (recorded) {
    const message = "The guard was installed here and is gone, although nobody ran pawl uninstall.";
    return [{ code: "guard_removed", level: "problem", where, message, command: REPAIR }];
  }
  const message = "No guard is installed here: nothing keeps commits off protected branches.";
  // A fresh clone of a project that has pawl needs what the project has, which a plain install knows from the files.
  const isFreshClone = site.home && hands.world.isInstalled() && !hands.world.isInstalledHere();
  const command = isFreshClone ? "pawl install" : "pawl install --profile hooks";
  return [{ code: "not_guarded", level: "note", where, message, command }];
}

/** A remote whose word was good, or was never asked for: only a human can say what it is worth now. */
async function examineRemotes(hands: Hands, site: Site): Promise<Diagnosis[]> {
  const { remotes } = await readTrust(hands, site);
  return remotes.flatMap(
    ({ name, standing, why = "no longer points where a human confirmed", route }): Diagnosis[] => {
      const about = { where: name, command: `pawl remote trust ${quoted(name)}` };
      if (standing === "changed")
        return [
          {
            ...about,
            code: "remote_changed",
            level: "problem",
            message: `${name} ${why}, so it explains nothing.`,
          },
        ];
      if (standing !== "unconfirmed") return [];
      const message = `Nobody has confirmed yet that ${route.address} is the right address, so no audit relies on it.`;
      return [{ ...about, code: "remote_unconfirmed", level: "note", message }];
    },
  );
}

/** The records say that this clone is guarded. */
async function isRecorded(hands: Hands, site: Site): Promise<boolean> {
  const clone = (await hands.git.audits()).cloneOf(site);
  if (clone === undefined) return false;
  return hands.look((reader) => {
    const ledger = readLedger(reader);
    const names = namesOf(ledger, site);
    return ledger.repositories.some((one) => names.has(one.id) && one.guarded.includes(clone));
  });
}

/** A policy that asks for signatures which no enrolled key can make keeps everybody from deciding anything. */
async function examineKeys(hands: Hands, site: Site): Promise<Diagnosis[]> {
  return (await protectedKeys(hands, site)).flatMap(({ branch, keys }) => {
    const why = enrolled(keys) ? whyNobodyCanSign(keys) : undefined;
    if (why === undefined) return [];
    const message = `The policy demands ${why}: nobody can approve, unlock or uninstall. ${WAY_OUT}`;
    return [{ code: "nobody_could_sign", level: "problem" as const, where: branch, message, command: ENROL }];
  });
}
