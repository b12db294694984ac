import { type Allow, allowedIn } from "./allowed.ts";
import { fill } from "./engine.ts";
import { REFERENCES } from "./references.ts";
import { printSkill, readSkill, textOf, withoutKeys } from "./skill-header.ts";
import { PARTIALS, SKILLS } from "./templates.ts";

/** What rendering needs to know of an agent; an `Adapter` has all of it. */
export interface SkillPlace {
  skills: { dir: string; keys: readonly string[] };
  words: Readonly<Record<string, string>>;
  allow?: Allow | undefined;
}

/** A skill as a person reads and overrides it: Markdown, everything filled in, in words that fit every agent. */
export interface Skill {
  name: string;
  text: string;
  /** Somebody's own words, which are written as they are wherever skills lie. */
  own?: boolean;
}

/** One file of a skill: its `SKILL.md`, or a reference beside it. */
export interface RenderedSkill {
  name: string;
  path: string;
  text: string;
  /** The text that it came from, ours or the user's; its digest goes into the ledger. */
  template: string;
}

/** Keys of a skill's header that only some agents know. */
const AGENT_KEYS = ["argument-hint"];

const ORIGIN = "<!-- Written by pawl; changes belong in .pawl/overrides/. -->";
const REFERENCE_ORIGIN = "<!-- Written by pawl; belongs to the skill in the folder above. -->";

/** The text of an installed skill without the line that says where it came from. */
export const withoutOrigin = (text: string) => text.replace(`\n${ORIGIN}\n`, "");

/** Every skill that Pawl brings, in the words of the adapter for agents in general. */
export function upstreamSkills(shared: SkillPlace): Skill[] {
  return Object.keys(SKILLS).map((name) => ({ name, text: fillSkill(name, shared.words) }));
}

/** The skills as one agent's folder holds them; what the user wrote is the same for all, ours has the agent's words. */
export function renderSkills(adapter: SkillPlace, skills: readonly Skill[]): RenderedSkill[] {
  return skills.flatMap(({ name, text, own }) => [
    {
      name,
      path: `${adapter.skills.dir}/${name}/SKILL.md`,
      text: own ? dress(text, adapter) : dress(fillSkill(name, adapter.words), adapter, adapter.allow),
      template: text,
    },
    ...references(adapter, name),
  ]);
}

/** Written beside a skill that the user changed as well: its steps may still point there. */
function references({ skills: { dir } }: SkillPlace, name: string): RenderedSkill[] {
  return Object.entries(REFERENCES[name] ?? {}).map(([file, template]) => ({
    name,
    path: `${dir}/${name}/references/${file}`,
    text: `${REFERENCE_ORIGIN}\n\n${fill(template, PARTIALS)}`,
    template,
  }));
}

export function skillDescription(skill: Skill): string {
  const read = readSkill(skill.text);
  return (read && textOf(read, "description")) ?? "";
}

/** What was filled in with these words already: most agents share theirs. */
const filled = new WeakMap<
  SkillPlace["words"],
  { partials: Record<string, string>; texts: Map<string, string> }
>();

function fillSkill(name: string, words: SkillPlace["words"]): string {
  const actions = Object.entries(words).map(([action, text]) => [`act/${action}`, text] as const);
  const known = filled.get(words) ?? {
    partials: { ...PARTIALS, ...Object.fromEntries(actions) },
    texts: new Map<string, string>(),
  };
  filled.set(words, known);
  const text = known.texts.get(name) ?? fill(SKILLS[name] ?? "", known.partials);
  known.texts.set(name, text);
  return text;
}

/** A user's own text allows what it says; ours allows the calls that it tells an agent to make. */
function dress(text: string, { skills: { keys } }: SkillPlace, allow?: Allow): string {
  const skill = readSkill(text);
  if (!skill) return text;
  const foreign = AGENT_KEYS.filter((key) => !keys.includes(key));
  const lines = withoutKeys(skill, foreign);
  if (allow) lines.push(`allowed-tools: "${allowedIn(skill.body, allow).join(", ")}"`);
  return printSkill({ lines, body: `\n${ORIGIN}\n${skill.body}` });
}
