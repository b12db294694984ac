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
