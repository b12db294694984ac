import type { Agent } from "./call.ts";

/** What a hook has to say; nothing at all lets the agent go on. */
export type Answer =
  /** The tool must not run; the model reads why. */
  | { kind: "refuse"; reason: string }
  /** The model reads this beside the event. */
  | { kind: "tell"; event: "SessionStart" | "PostToolUse"; text: string }
  /** The agent wanted to stop and is asked for one more turn. */
  | { kind: "go on"; reason: string }
  /** Said to whoever summarises the conversation. */
  | { kind: "before compaction"; text: string };

/**
 * The agents' formats. Claude and Codex take nested context, Copilot flat context only; Codex throws an answer away that
 * has a key it does not know. Before a compaction Claude takes plain text as an instruction, Codex only shows a message,
 * and Copilot takes nothing.
 */
export function printAnswer(agent: Agent, answer: Answer): string {
  switch (answer.kind) {
    case "refuse":
      // Gemini takes no notice of a refusal in the others' form.
      if (agent === "gemini") return JSON.stringify({ decision: "deny", reason: answer.reason });
      return nested("PreToolUse", {
        permissionDecision: "deny",
        permissionDecisionReason: answer.reason,
      });
    case "tell":
      return agent === "copilot"
        ? JSON.stringify({ additionalContext: answer.text })
        : nested(answer.event, { additionalContext: answer.text });
    case "go on":
      return JSON.stringify({ decision: agent === "gemini" ? "deny" : "block", reason: answer.reason });
    case "before compaction":
      if (agent === "claude") return answer.text;
      return agent === "codex" ? JSON.stringify({ systemMessage: answer.text }) : "";
  }
}

const nested = (hookEventName: string, more: object) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName, ...more } });
