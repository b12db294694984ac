import { Failure } from "../../model/failure.ts";
import type { AgentName } from "../adapter.ts";
import { ADAPTERS } from "../adapters.ts";
import { lookAt } from "../plan/look.ts";
import { mergeThree } from "../render/merge.ts";
import { renderSkills, type Skill, withoutOrigin } from "../render/skills.ts";

/** An installed skill that somebody edited in its place, as an override would say it. */
interface Edited {
  text: string;
  /** The files that have the edit; the override speaks for them from now on. */
  paths: string[];
}

/**
 * The edits of a skill's installed files, made to the text that overrides are made of. Each agent's folder has its own
 * words, so that not the file is taken but what was changed in it.
 */
export function skillFromEdits(root: string, agents: readonly AgentName[], skill: Skill): Edited {
  const folders = new Map(agents.map((agent) => [ADAPTERS[agent].skills.dir, ADAPTERS[agent]]));
  const edited: Edited = { text: skill.text, paths: [] };
  for (const adapter of folders.values()) {
    const [ours] = renderSkills(adapter, [skill]);
    const found = ours && lookAt(root, ours.path).text?.replaceAll("\r\n", "\n");
    if (!ours || found === undefined || found === ours.text) continue;
    const merged = mergeThree(withoutOrigin(ours.text), withoutOrigin(found), edited.text);
    if (merged.conflicts > 0) throw notMergeable(skill.name, [...edited.paths, ours.path]);
    edited.text = merged.text;
    edited.paths.push(ours.path);
  }
  if (edited.paths.length > 0) return edited;
  throw new Failure("refused", "not_edited", `No installed file of the skill ${skill.name} was edited.`, {
    hint: `To change it: pawl override skill ${skill.name} --patch`,
    details: { name: skill.name },
  });
}

function notMergeable(name: string, paths: readonly string[]): Failure {
  return new Failure(
    "refused",
    "edits_differ",
    `What was edited in ${paths.join(" and ")} cannot be combined.`,
    {
      hint: `Nothing was changed. Start from pawl's own text and bring your edits over: pawl override skill ${name} --patch`,
      details: { name, paths },
    },
  );
}
