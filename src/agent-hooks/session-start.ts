import { tokensOf } from "../model/budget.ts";
import { type Agent, DIALECTS } from "./dialects.ts";

/** What an agent pays for knowing where it is. */
const MOST_TOKENS = 400;
/** Kept free for the warnings and the next step, which are printed beside the session. */
const BESIDE_TOKENS = 70;
const MOST_WARNINGS = 2;
const LONGEST_WARNING = 240;

export interface StartFacts {
  agent: Agent;
  /** The file in this worktree that runs pawl. */
  launcher: string;
  /** Whether the guard was installed in this clone; whether it holds is told by the session itself. */
  guarded: boolean;
  /** The answer of `pawl session`. */
  session: { code: number | null; out: string; err: string };
}

type Opening = Omit<StartFacts, "session">;

/** What is left for the session's own text. */
export const sessionBudget = (facts: Opening) => MOST_TOKENS - tokensOf(openingWords(facts)) - BESIDE_TOKENS;

function openingWords({ agent, guarded, launcher }: Opening): string {
  return [
    `This repository is managed with pawl. \`pawl\` means \`node ${launcher}\`; the MCP server pawl has the same operations. Begin with the skill ${DIALECTS[agent].skill}.`,
    "Work in the task's own worktree, run checks with `pawl verify`, leave a `pawl handoff` before you stop. Only a human merges.",
    ...(guarded
      ? []
      : [
          `Warning: the guard is not installed in this clone, so git refuses nothing here. Run: node ${launcher} install`,
        ]),
  ].join("\n");
}

/** The whole text, never more than its budget: the last lines of the session give way, warnings and next step do not. */
export function startText(facts: StartFacts): string {
  const { code, out, err } = facts.session;
  const said = err.split("\n");
  const warnings = said
    .filter((line) => line.startsWith("note: "))
    .slice(0, MOST_WARNINGS)
    .map((line) => `Warning: ${line.slice("note: ".length, LONGEST_WARNING)}`);
  const next = code === 0 ? said.filter((line) => line.startsWith("next: ")) : [];
  const body = code === 0 ? out : `The session could not be loaded. ${err || "pawl did not answer."}`;
  const lines = body.trim().split("\n");
  for (;;) {
    const text = [openingWords(facts), ...warnings, "", ...lines, ...next].join("\n");
    if (tokensOf(text) <= MOST_TOKENS || lines.length === 0) return text;
    lines.pop();
  }
}
