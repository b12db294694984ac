import { mergeThree } from "./merge.ts";
import type { Override } from "./override-file.ts";
import type { Skill } from "./skills.ts";

export type Sha256 = (text: string) => string;

/** What became of one override; whatever is not `applied` is for a person to look at. */
export type OverrideReport = { skill: string; mode: Override["mode"] } & (
  | { state: "applied" }
  /** Both changed, in different places: the result is in use, and `settled` is the override that says so. */
  | { state: "merged"; settled: Override; base: string; upstream: string }
  /** Both changed the same place: the user's text is in use; `marked` has both sides. */
  | { state: "conflict"; base: string; yours: string; upstream: string; marked: string }
  /** Not in use because of the override, and changed since. */
  | { state: "upstream_changed"; base: string | undefined; upstream: string }
  /** A skill that the user added has the name of one that we bring now. */
  | { state: "upstream_has_one"; upstream: string }
  /** We bring no such skill any more; the user's own stays. */
  | { state: "upstream_gone"; base: string | undefined }
);

export const digestOf = (text: string, sha256: Sha256) => `sha256:${sha256(text)}`;

/** The skills to write, ours and the user's, and what there is to tell about each override. */
export function applyOverrides(
  upstream: readonly Skill[],
  overrides: readonly Override[],
  sha256: Sha256,
): { skills: Skill[]; reports: OverrideReport[] } {
  const byName = new Map(overrides.map((one) => [one.name, one]));
  const known = new Map(upstream.map((one) => [one.name, one]));
  const outcomes = [...byName.values()].map((one) => outcomeOf(one, known.get(one.name), sha256));
  const chosen = new Map(outcomes.map(({ report, text }) => [report.skill, text]));
  const ours = upstream.flatMap((skill) => (chosen.has(skill.name) ? own(skill.name, chosen) : [skill]));
  const added = outcomes.map(({ report }) => report.skill).filter((name) => !known.has(name));
  return {
    skills: [...ours, ...added.sort().flatMap((name) => own(name, chosen))],
    reports: outcomes.map(({ report }) => report),
  };
}

/** The same change, made against what is upstream now: how a person says that they have seen it. */
export function settle(override: Override, upstream: string, sha256: Sha256): Override {
  return { ...override, upstream: digestOf(upstream, sha256), base: upstream };
}

interface Outcome {
  report: OverrideReport;
  /** Undefined: nothing is written. */
  text: string | undefined;
}

function own(name: string, chosen: ReadonlyMap<string, string | undefined>): Skill[] {
  const text = chosen.get(name);
  return text === undefined ? [] : [{ name, text, own: true }];
}

function outcomeOf(override: Override, skill: Skill | undefined, sha256: Sha256): Outcome {
  const { name, mode, base } = override;
  const about = { skill: name, mode };
  const text = mode === "disable" ? undefined : override.text;
  if (mode === "add")
    return {
      text,
      report: skill
        ? { ...about, state: "upstream_has_one", upstream: skill.text }
        : { ...about, state: "applied" },
    };
  if (!skill) return { text, report: { ...about, state: "upstream_gone", base } };
  if (digestOf(skill.text, sha256) === override.upstream)
    return { text, report: { ...about, state: "applied" } };
  if (mode === "patch") return mergePatch(override, skill.text, sha256);
  return { text, report: { ...about, state: "upstream_changed", base, upstream: skill.text } };
}

/** A base that is lost, or was edited, cannot tell who changed what; then all that differs is a conflict. */
function mergePatch(override: Override, upstream: string, sha256: Sha256): Outcome {
  const { name, mode, text: yours } = override;
  const isTrue = override.base !== undefined && digestOf(override.base, sha256) === override.upstream;
  const base = isTrue ? (override.base ?? "") : "";
  const merged = mergeThree(base, yours, upstream);
  const about = { skill: name, mode, base, upstream };
  if (merged.conflicts > 0)
    return { text: yours, report: { ...about, state: "conflict", yours, marked: merged.text } };
  const settled = settle({ ...override, text: merged.text }, upstream, sha256);
  return { text: merged.text, report: { ...about, state: "merged", settled } };
}
