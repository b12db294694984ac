import { ADAPTERS, SHARED } from "../../../src/installer/adapters.ts";
import { type RenderedSkill, renderSkills, upstreamSkills } from "../../../src/installer/render/skills.ts";

/** Every skill in every rendering that there is, as a fresh install would write it. */
export const RENDERINGS = { claude: ADAPTERS.claude, portable: SHARED } as const;

export interface Rendered extends RenderedSkill {
  rendering: keyof typeof RENDERINGS;
}

/** The skills themselves, and what lies beside them. */
export const renderAll = () => everyFile().filter((one) => one.path.endsWith("/SKILL.md"));
export const renderReferences = () => everyFile().filter((one) => one.path.includes("/references/"));

export function everyFile(): Rendered[] {
  const skills = upstreamSkills(SHARED);
  return (Object.keys(RENDERINGS) as (keyof typeof RENDERINGS)[]).flatMap((rendering) =>
    renderSkills(RENDERINGS[rendering], skills).map((skill) => ({ ...skill, rendering })),
  );
}
