import type { Answer } from "./answer.ts";

/** How one agent names the events that we know by Claude Code's names, and how it wants to be answered. */
interface Dialect {
  /** Its own names; an event that is not among them has ours. */
  events: Readonly<Record<string, string>>;
  /** How a person or the model calls the skill that a session begins with. */
  skill: string;
  /** Nothing where the agent has no use for such an answer. */
  print(answer: Answer): string;
}

const json = (value: object) => JSON.stringify(value);
const nested = (hookEventName: string, more: object) =>
  json({ hookSpecificOutput: { hookEventName, ...more } });
const denied = (permissionDecisionReason: string) =>
  nested("PreToolUse", { permissionDecision: "deny", permissionDecisionReason });
const goOn = (reason: string) => json({ decision: "block", reason });

/** Claude and Codex take nested context; before a compaction Claude takes plain text as an instruction. */
const claude: Dialect = {
  events: {},
  skill: "/pawl",
  print(answer) {
    if (answer.kind === "refuse") return denied(answer.reason);
    if (answer.kind === "tell") return nested(answer.event, { additionalContext: answer.text });
    return answer.kind === "go on" ? goOn(answer.reason) : answer.text;
  },
};

/** Throws an answer away that has a key it does not know; before a compaction it only shows a message. */
const codex: Dialect = {
  events: {},
  skill: "$pawl",
  print: (answer) =>
    answer.kind === "before compaction" ? json({ systemMessage: answer.text }) : claude.print(answer),
};

/** Flat context only, and nothing before a compaction. */
const copilot: Dialect = {
  events: {},
  skill: "pawl",
  print(answer) {
    if (answer.kind === "before compaction") return "";
    return answer.kind === "tell" ? json({ additionalContext: answer.text }) : claude.print(answer);
  },
};

/** Its own names for the events, and a refusal of its own; a Claude-shaped one is ignored. */
const gemini: Dialect = {
  events: {
    BeforeTool: "PreToolUse",
    AfterTool: "PostToolUse",
    PreCompress: "PreCompact",
    AfterAgent: "Stop",
  },
  skill: "pawl",
  print(answer) {
    switch (answer.kind) {
      case "refuse":
      case "go on":
        return json({ decision: "deny", reason: answer.reason });
      case "tell":
        return nested(answer.event === "PostToolUse" ? "AfterTool" : answer.event, {
          additionalContext: answer.text,
        });
      case "before compaction":
        return json({ systemMessage: answer.text });
    }
  },
};

/** Asked by the plugin that we install there, which puts the answer where it belongs; nothing can hold up its stop. */
const opencode: Dialect = {
  events: {},
  skill: "/pawl",
  print(answer) {
    if (answer.kind === "go on") return "";
    return json(answer.kind === "refuse" ? { refuse: answer.reason } : { tell: answer.text });
  },
};

/** From its documentation; not tried. */
const cursor: Dialect = {
  events: {
    sessionStart: "SessionStart",
    preToolUse: "PreToolUse",
    postToolUse: "PostToolUse",
    preCompact: "PreCompact",
    stop: "Stop",
  },
  skill: "/pawl",
  print(answer) {
    switch (answer.kind) {
      case "refuse":
        return json({ permission: "deny", user_message: answer.reason, agent_message: answer.reason });
      case "tell":
        return json({ additional_context: answer.text });
      case "go on":
        return json({ followup_message: answer.reason });
      case "before compaction":
        return json({ user_message: answer.text });
    }
  },
};

export const DIALECTS = { claude, codex, copilot, gemini, opencode, cursor } as const;

/** Which program started the hook. */
export type Agent = keyof typeof DIALECTS;
