import { existsSync, mkdirSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { sha256 } from "../files/digest.ts";
import { explainFileError, makeFolder, syncDirectory } from "../files/durable.ts";
import { withLock } from "../files/intent-lock.ts";
import { namesIfPresent, occupied, textIfPresent } from "../files/read.ts";
import { isRewritten } from "../git/audit/reflog.ts";
import { hooksDir, tipsFolder, trippedFolder } from "../git/guard-files.ts";
import { missingFrom } from "../model/guard-policy.ts";
import { step } from "../model/steps.ts";
import type { GuardActivation, Loosening } from "../ports/guard.ts";
import type { Route } from "../ports/remotes.ts";
import { type Before, readBefore, writeBefore } from "./before.ts";
import { dropLeftovers } from "./edit-config.ts";
import { type Facts, lookAround } from "./facts.ts";
import { moveHook, setAside } from "./foreign-hooks.ts";
import { isInPlace, isOurs, place, remove } from "./place.ts";
import { type ActivationPlan, type MadeFor, planActivation } from "./plan.ts";
import type { GuardedSite } from "./policy.ts";
import type { Programs } from "./render-hooks.ts";
import { applySettings, unsettled } from "./settings.ts";
import { writeStamps } from "./stamps.ts";
import { keepTip } from "./tips.ts";

export const lockOf = (commonDir: string) => join(commonDir, "pawl", "guard.lock");

/** Puts the guard in place, or back into place. Files come first and the setting that makes git use them last. */
export function activate(
  site: GuardedSite,
  programs: Programs,
  loosening: Loosening,
  remotes: readonly Route[],
): GuardActivation {
  return guardedly(site.commonDir, () => {
    const facts = lookAround(site, loosening);
    const made = { programs, remotes: remotes.map(({ name, address, push }) => ({ name, address, push })) };
    const plan = planActivation(facts, made, presentHooks(site.commonDir));
    return apply(site, facts, plan, made);
  });
}

/** What an activation would do now. */
export function rehearse(site: GuardedSite, programs: Programs): { do: string; path: string }[] {
  const facts = lookAround(site, "never");
  const made = { programs, remotes: readBefore(site.commonDir)?.remotes ?? [] };
  const plan = planActivation(facts, made, presentHooks(site.commonDir));
  return [
    ...plan.files.filter((file) => !isInPlace(file)).map((file) => ({ do: "write", path: file.path })),
    ...plan.obsolete.map((path) => ({ do: "remove", path })),
    ...unsettled(site.commonDir, facts.settings).map((path) => ({ do: "set core.hooksPath in", path })),
  ];
}

export function guardedly<T>(commonDir: string, act: () => T): T {
  try {
    makeFolder(join(commonDir, "pawl"));
    const whole = () => {
      dropLeftovers(commonDir);
      return act();
    };
    return withLock(lockOf(commonDir), whole, { waitMs: 60_000 });
  } catch (error) {
    throw explainFileError(error, "The hooks could not be changed");
  }
}

export const presentHooks = (commonDir: string) => namesIfPresent(hooksDir(commonDir));

function apply(site: GuardedSite, facts: Facts, plan: ActivationPlan, made: MadeFor): GuardActivation {
  const { commonDir } = site;
  const changed: string[] = [];
  const before = remember(site, facts, plan, made);
  const notes = giveBack(facts, before);
  prepareTips(facts, before);
  for (const file of plan.files) if (place(file)) changed.push(file.path);
  // All of them are where they belong on the disk, too, before git is told to use them.
  for (const folder of new Set(changed.map((path) => dirname(path)))) syncDirectory(folder);
  if (facts.settings.previousPath === undefined && remove(join(commonDir, "pawl", "previous")))
    changed.push("previous");
  for (const path of plan.obsolete) if (remove(path)) changed.push(path);
  changed.push(...applySettings(commonDir, facts.settings));
  // Versions before 0.2 kept a file of settings that the configuration included.
  remove(join(commonDir, "pawl", "hooks.config"));
  writeStamps(facts, plan);
  const kept = missingFrom(facts.policy, facts.wanted);
  if (kept.length > 0) notes.push(stillDemanded(kept));
  const tips = Object.entries(before.baseline).map(([ref, commit]) => ({ ref, commit }));
  return { patterns: facts.policy.protected, tips, previous: facts.previousHooks, changed, notes };
}

export const stillDemanded = (kept: readonly string[]) =>
  `The policy no longer names ${kept.join(", ")}; the hooks keep enforcing it until a human runs: pawl install --profile hooks`;

/** Written before anything else, so that whatever a kill leaves can be taken back. */
function remember(site: GuardedSite, facts: Facts, plan: ActivationPlan, made: MadeFor): Before {
  const { commonDir } = site;
  const earlier = readBefore(commonDir);
  const shown = (path: string) => {
    const inside = relative(commonDir, path);
    return inside.startsWith("..") || isAbsolute(inside) ? path : inside;
  };
  const before: Before = {
    hooksPath: facts.settings.previousPath ?? null,
    ...facts.settings.displaced,
    noHooksDir: earlier ? earlier.noHooksDir : !existsSync(join(commonDir, "hooks")),
    baseline: { ...Object.fromEntries(facts.tips), ...earlier?.baseline },
    policyFrom: facts.policyFrom ?? null,
    ...made,
    givenBack: { ...earlier?.givenBack },
    written: [
      ...new Set([...(earlier?.written ?? []), ...plan.files.map((file) => shown(file.path))]),
    ].sort(),
    digests: Object.fromEntries(
      plan.files.filter((file) => file.runs).map((file) => [shown(file.path), sha256(file.text)]),
    ),
  };
  step("guard before");
  writeBefore(commonDir, before);
  return before;
}

/** Branches that are protected from now on are known from now on. */
function prepareTips({ commonDir, tips, again }: Facts, before: Before): void {
  for (const folder of [tipsFolder, trippedFolder]) mkdirSync(folder(commonDir), { recursive: true });
  const isDue = (ref: string) => again === "moved" || (again === "human" && isRewritten(commonDir, ref));
  for (const [ref, tip] of tips)
    if (before.baseline[ref] !== undefined) keepTip(commonDir, ref, tip, isDue(ref));
}

/**
 * Another tool may take our folder for its own and install there. What it wrote goes to where it would have been
 * without us; ours comes back, and calls it. Only what came there the same way before is replaced.
 */
function giveBack({ commonDir, previousDir, foreign }: Facts, before: Before): string[] {
  const notes: string[] = [];
  for (const name of foreign) {
    const [from, to] = [join(hooksDir(commonDir), name), join(previousDir, name)];
    const [text = "", there] = [textIfPresent(from), textIfPresent(to)];
    const replaceable =
      there === undefined ? !occupied(to) : isOurs(there) || before.givenBack[name] === sha256(there);
    if (!replaceable && there !== text) {
      notes.push(setAside(commonDir, name, to));
      continue;
    }
    before.givenBack[name] = sha256(text);
    writeBefore(commonDir, before);
    step(`guard give back ${name}`);
    moveHook(from, to);
  }
  return notes;
}
