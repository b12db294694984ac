import { tokensOf } from "../core/budget.ts";
import type { Agent } from "./call.ts";

/** What an agent pays for knowing where it is. */
export const MOST_TOKENS = 400;

const SKILL: Readonly<Record<Agent, string>> = {
  claude: "the skill /pawl",
  codex: "the skill $pawl",
  copilot: "the skill pawl",
};

export interface StartFacts {
  agent: Agent;
  guard: "in place" | "not installed" | { hooksPath: string | undefined };
  /** The answer of `pawl session`. */
  session: { code: number | null; out: string; err: string };
}

/** The words that come before the session's own. */
export function openingWords({ agent, guard }: Pick<StartFacts, "agent" | "guard">): string {
  return [
    `This repository is kept with pawl. \`pawl\` means \`node .pawl/pawl.mjs\`; the MCP server pawl has the same operations. Begin with ${SKILL[agent]}.`,
    "Work in the task's own worktree, have checks run by `pawl verify`, leave a `pawl handoff` before you stop. Merging is a human's decision.",
    ...guardWords(guard),
  ].join("\n");
}

function guardWords(guard: StartFacts["guard"]): string[] {
  if (guard === "in place") return [];
  if (guard === "not installed")
    return ["Warning: the guard is not installed in this clone. Run `node .pawl/pawl.mjs install`."];
  const where = guard.hooksPath === undefined ? "not set" : `"${guard.hooksPath.slice(0, 80)}"`;
  return [
    `Warning: git hooks are off here (core.hooksPath is ${where}), so protected branches are not guarded. Run \`node .pawl/pawl.mjs doctor --fix\`.`,
  ];
}

/** The whole text, never more than its budget: the last lines of the session give way, its next step does not. */
export function startText(facts: StartFacts): string {
  const opening = openingWords(facts);
  const { code, out, err } = facts.session;
  const lines = (code === 0 ? out : `pawl session could not be loaded: ${err || "no answer"}`)
    .trim()
    .split("\n");
  const next = code === 0 ? err.split("\n").filter((line) => line.startsWith("next: ")) : [];
  for (;;) {
    const text = [opening, "", ...lines, ...next].join("\n");
    if (tokensOf(text) <= MOST_TOKENS || lines.length === 0) return text;
    lines.pop();
  }
}
