import * as z from "zod/mini";
import { choice, line, maybe } from "../model/input.ts";
import type { Command } from "../ports/operation.ts";

/** `pawl mcp` is no operation but a way to all of them; it describes itself like one, so that help and flags are the same. */
export const mcpCommand = {
  id: "mcp",
  summary: "Serve an agent over MCP: the operations as tools, on standard input and output",
  details:
    "Agents start it themselves; `pawl install` registers it under the name pawl. Whoever calls is an agent, never a human:\nwhat a human has to decide is not offered, and refused where it could be reached. A call about a task is made from the\ntask's own worktree. It ends when its client does.",
  examples: ["pawl mcp", "pawl mcp --tools all --agent codex"],
  access: "read",
  input: z.strictObject({
    tools: maybe(
      choice(
        ["core", "all", "manager"],
        "which tools (default: core); manager: to start runs and to look after them",
      ),
    ),
    agent: maybe(line("which agent calls, where its environment does not tell", "NAME", 60)),
  }),
} satisfies Command;
