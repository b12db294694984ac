import { join } from "node:path";
import { sha256 } from "../../files/digest.ts";
import { namesIfPresent } from "../../files/read.ts";
import { Failure } from "../../model/failure.ts";
import type { OverrideChange, OverrideListing } from "../../ports/installation.ts";
import type { AgentName, Surface } from "../adapter.ts";
import { ADAPTERS } from "../adapters.ts";
import { printJson } from "../json-text.ts";
import { lookAt } from "../plan/look.ts";
import {
  basePath,
  type Override,
  overridePath,
  printOverride,
  readOverride,
} from "../render/override-file.ts";
import { applyOverrides, digestOf, type OverrideReport, settle } from "../render/overrides.ts";
import { type Skill, upstreamSkills } from "../render/skills.ts";
import { showDiff } from "../show-diff.ts";
import { skillFromEdits } from "./from-edit.ts";
import {
  readSurfaceOverride,
  type SurfaceOverride,
  surfaceOverridePath,
  surfaceUpstream,
} from "./surface-overrides.ts";

/** Files of overrides that are about to be written, or to go where there is no text. */
export type Overlay = ReadonlyMap<string, string | undefined>;

export interface Overrides {
  skills: Override[];
  surfaces: SurfaceOverride[];
}

const FOLDER = ".pawl/overrides/skills";
const SURFACES: readonly Surface[] = ["mcp", "hooks"];
const isSurface = (name: string): name is Surface => SURFACES.some((one) => one === name);
const adapters = Object.values(ADAPTERS);

/** The user's changes as the tree has them, with what is about to be written over it. */
export function readOverrides(root: string, overlay: Overlay = new Map()): Overrides {
  const textAt = (path: string) => (overlay.has(path) ? overlay.get(path) : lookAt(root, path).text);
  const folder = join(root, FOLDER);
  const there = namesIfPresent(folder);
  const coming = [...overlay.keys()].flatMap(
    (path) => path.match(/^\.pawl\/overrides\/skills\/([^/]+)\//)?.[1] ?? [],
  );
  const skills = [...new Set([...there, ...coming])].sort().flatMap((name) => {
    const file = textAt(overridePath(name));
    return file === undefined ? [] : [readOverride(name, file, textAt(basePath(name)))];
  });
  const surfaces = SURFACES.flatMap((surface) => {
    const text = textAt(surfaceOverridePath(surface));
    return text === undefined ? [] : [readSurfaceOverride(surface, text, adapters)];
  });
  return { skills, surfaces };
}

/** The files that make a change of an override, from what is there. */
export function overlayFor(change: OverrideChange, root: string, agents: readonly AgentName[]): Overlay {
  const now = readOverrides(root);
  switch (change.do) {
    case "skill":
      return printOverride(overrideOf(change, now));
    case "edited": {
      const { text } = skillFromEdits(root, agents, ownSkill(change.name));
      return printOverride(overrideOf({ ...change, do: "skill", mode: "patch", text }, now));
    }
    case "add":
      return printOverride(addedSkill(change, now));
    case "surface":
      return surfaceFiles(change.surface, change.mode, now);
    case "remove":
      return removal(change.name, now);
    case "settle":
      return settled(change.name, now);
  }
}

/** The files whose edits an override keeps, so that they may be written again. */
export const editedFiles = (change: OverrideChange, root: string, agents: readonly AgentName[]): string[] =>
  change.do === "edited" ? skillFromEdits(root, agents, ownSkill(change.name)).paths : [];

const upstream = () => upstreamSkills(ADAPTERS.generic);

function overrideOf(change: Extract<OverrideChange, { do: "skill" }>, now: Overrides): Override {
  const { name, mode } = change;
  const skill = ownSkill(name);
  refuseSecond(name, now);
  const base = skill.text;
  const text = change.text ?? (mode === "disable" ? "" : base);
  return checked({ name, mode, text, upstream: digestOf(base, sha256), base });
}

function ownSkill(name: string): Skill {
  const all = upstream();
  const skill = all.find((one) => one.name === name);
  if (skill) return skill;
  const known = all.map((one) => one.name);
  throw new Failure("not_found", "no_skill", `Pawl has no skill called ${name}.`, {
    hint: `It has ${known.join(", ")}. For one of your own: pawl override add ${name}`,
    details: { name, known },
  });
}

function addedSkill({ name, text }: Extract<OverrideChange, { do: "add" }>, now: Overrides): Override {
  if (upstream().some((one) => one.name === name))
    throw new Failure("conflict", "skill_exists", `Pawl already has a skill called ${name}.`, {
      hint: `To change it: pawl override skill ${name} --patch`,
      details: { name },
    });
  refuseSecond(name, now);
  const skeleton = `---\nname: "${name}"\ndescription: "What it is about. Use when …"\n---\n\n# ${name}\n\n1. …\n`;
  return checked({ name, mode: "add", text: text ?? skeleton });
}

function refuseSecond(name: string, now: Overrides): void {
  if (!now.skills.some((one) => one.name === name)) return;
  throw new Failure("conflict", "override_exists", `${overridePath(name)} already exists.`, {
    hint: `Edit it and run \`pawl install\`, or remove it first: pawl override remove ${name}`,
    details: { file: overridePath(name) },
  });
}

/** What we are about to write has to be readable as what it was meant to be. */
function checked(override: Override): Override {
  const files = printOverride(override);
  return readOverride(
    override.name,
    files.get(overridePath(override.name)) ?? "",
    files.get(basePath(override.name)),
  );
}

function surfaceFiles(surface: Surface, mode: "disable" | "replace", now: Overrides): Overlay {
  const path = surfaceOverridePath(surface);
  if (now.surfaces.some((one) => one.surface === surface))
    throw new Failure("conflict", "override_exists", `${path} already exists.`, {
      hint: `Edit it and run \`pawl install\`, or remove it first: pawl override remove ${surface}`,
      details: { file: path },
    });
  const text = surfaceUpstream(surface, adapters);
  const header = { mode, upstream: digestOf(text, sha256) };
  const value = mode === "disable" ? header : { ...header, files: JSON.parse(text) };
  return new Map([[path, printJson(value)]]);
}

function removal(name: string, now: Overrides): Overlay {
  if (now.skills.some((one) => one.name === name))
    return new Map([
      [overridePath(name), undefined],
      [basePath(name), undefined],
    ]);
  if (isSurface(name) && now.surfaces.some((one) => one.surface === name))
    return new Map([[surfaceOverridePath(name), undefined]]);
  throw noOverride(name, now);
}

function noOverride(name: string, { skills, surfaces }: Overrides): Failure {
  const known = [...skills.map((one) => one.name), ...surfaces.map((one) => one.surface)];
  return new Failure("not_found", "no_override", `There is no override of ${name}.`, {
    hint: known.length === 0 ? "There are none at all." : `There are: ${known.join(", ")}.`,
    details: { name, known },
  });
}

/** What was merged is written down as merged; a named override is taken as made against what is upstream now. */
function settled(name: string | undefined, now: Overrides): Overlay {
  const { reports } = applyOverrides(upstream(), now.skills, sha256);
  if (name === undefined)
    return new Map(reports.flatMap((one) => (one.state === "merged" ? [...printOverride(one.settled)] : [])));
  const override = now.skills.find((one) => one.name === name);
  const report = reports.find((one) => one.skill === name);
  if (override && report) return printOverride(settledSkill(override, report));
  const surface = now.surfaces.find((one) => one.surface === name);
  if (!surface) throw noOverride(name, now);
  const { surface: which, ...rest } = surface;
  const fresh = { ...rest, upstream: digestOf(surfaceUpstream(which, adapters), sha256) };
  return new Map([[surfaceOverridePath(which), printJson(JSON.parse(JSON.stringify(fresh)))]]);
}

function settledSkill(override: Override, report: OverrideReport): Override {
  if (report.state === "merged") return report.settled;
  return "upstream" in report && override.mode !== "add"
    ? settle(override, report.upstream, sha256)
    : override;
}

/** Every override with what became of it, and what changed upstream since it was made. */
export function listOverrides(
  reports: readonly OverrideReport[],
  surfaces: readonly { surface: Surface; mode: string; state: string }[],
): OverrideListing[] {
  return [
    ...reports.map((one): OverrideListing => {
      const path = overridePath(one.skill);
      const [base, news] = [
        "base" in one ? one.base : undefined,
        "upstream" in one ? one.upstream : undefined,
      ];
      const diff = base !== undefined && news !== undefined ? showDiff(one.skill, base, news) : undefined;
      return { name: one.skill, kind: "skill", mode: one.mode, state: one.state, path, diff };
    }),
    ...surfaces.map(
      ({ surface, mode, state }): OverrideListing => ({
        name: surface,
        kind: "surface",
        mode,
        state,
        path: surfaceOverridePath(surface),
        diff: undefined,
      }),
    ),
  ];
}
