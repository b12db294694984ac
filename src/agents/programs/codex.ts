import type { Role } from "../../model/records/attempt.ts";
import type { AgentProgress } from "../../ports/agents.ts";
import type { AgentProgram, StreamEvent, Wish } from "../program.ts";
import { modelReason, oneLine, tokens, withFiles } from "./words.ts";

/**
 * Its own sandbox keeps git's folder of a linked worktree read-only, so that an author could not commit in it; what
 * guards the branches then is the guard. Who only reads stays inside, and a manager has no shell at all.
 */
const WRITES = ["-s", "danger-full-access"];
const READS = ["-s", "read-only", "--disable", "multi_agent"];
const PERMISSIONS: Readonly<Record<Role, readonly string[]>> = {
  author: WRITES,
  fixer: WRITES,
  reviewer: READS,
  manager: [...READS, "--disable", "shell_tool", "--disable", "unified_exec"],
  conductor: READS,
};
/** Without it, hooks that nobody has confirmed on this machine are skipped without a word. */
const HOOKS = "--dangerously-bypass-hook-trust";

export const codex: AgentProgram = {
  name: "codex",
  title: "Codex",
  actor: "codex",
  bin: "codex",
  natives: [
    "../../codex-{os}-{cpu}/vendor/{triple}/bin/codex",
    "../node_modules/@openai/codex-{os}-{cpu}/vendor/{triple}/bin/codex",
  ],
  paths: ["../codex-path"],
  manifest: "../package.json",
  session: "told",
  resumes: true,
  tells: { turns: false, cost: false },
  countsOn: true,
  endsByEvent: true,
  start: (wish) => ({ args: ["exec", ...settings(wish), "--json", HOOKS, ...wish.more, "-"] }),
  resume: (wish) => ({
    args: ["exec", ...settings(wish), "resume", wish.session, "--json", HOOKS, ...wish.more, "-"],
  }),
  read,
  show,
};

/** Values are TOML, in which such strings, lists and inline tables are written as here. */
function settings({ role, model, mcp }: Wish): string[] {
  const variables = Object.entries(mcp.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const server = {
    command: JSON.stringify(mcp.command),
    args: JSON.stringify(mcp.args),
    env: `{ ${variables.join(", ")} }`,
    // Nobody is there to approve a call, and one that is not approved is cancelled.
    default_tools_approval_mode: '"approve"',
  };
  return [
    ...PERMISSIONS[role],
    ...Object.entries(server).flatMap(([key, value]) => ["-c", `mcp_servers.pawl.${key}=${value}`]),
    ...(model === undefined ? [] : ["-m", model]),
  ];
}

function read(event: StreamEvent, before: AgentProgress): AgentProgress {
  switch (event.type) {
    case "thread.started":
      return { ...before, session: event.thread_id };
    case "item.started":
    case "item.completed":
      return readItem(event.item ?? {}, event.type === "item.completed", { ...before, waiting: undefined });
    case "error":
      return /^Reconnecting/.test(event.message ?? "")
        ? { ...before, waiting: oneLine(event.message, 80) }
        : before;
    case "turn.completed":
      return {
        ...before,
        waiting: undefined,
        tokens: tokens(
          event.usage?.input_tokens,
          event.usage?.cached_input_tokens,
          event.usage?.output_tokens,
        ),
        verdict: { ok: true, reason: undefined, words: before.said },
      };
    case "turn.failed": {
      const words = oneLine(event.error?.message, 300);
      return { ...before, waiting: undefined, verdict: { ok: false, reason: modelReason(words), words } };
    }
    default:
      return before;
  }
}

/** Items of type `error` are warnings. */
function readItem(item: StreamEvent, isDone: boolean, before: AgentProgress): AgentProgress {
  if (item.type === "agent_message") return { ...before, said: oneLine(item.text, 500) };
  if (item.type === "error" || item.type === "reasoning") return before;
  const paths = (item.changes ?? []).map((one: StreamEvent) => one.path);
  return {
    ...before,
    last: actOf(item),
    files: isDone && item.type === "file_change" ? withFiles(before, paths) : before.files,
    denied: before.denied + (isDone && item.status === "declined" ? 1 : 0),
    delegated: before.delegated || item.type === "collab_tool_call",
  };
}

function actOf(item: StreamEvent): string {
  switch (item.type) {
    case "command_execution":
      return oneLine(String(item.command ?? "").replace(/^\S*\/(?:ba|z)?sh -lc /, ""));
    case "file_change":
      return oneLine(`change ${(item.changes ?? []).map((one: StreamEvent) => one.path).join(" ")}`);
    case "mcp_tool_call":
      return oneLine(`${item.server} ${item.tool}`);
    default:
      return oneLine(String(item.type ?? "").replaceAll("_", " "));
  }
}

function show(event: StreamEvent): string | undefined {
  const { item } = event;
  switch (event.type) {
    case "thread.started":
      return `session ${event.thread_id}`;
    case "error":
      return `… ${oneLine(event.message, 200)}`;
    case "turn.failed":
      return `✗ ${oneLine(event.error?.message, 300)}`;
    case "turn.completed":
      return "✓ turn completed";
    case "item.started":
      return item.type === "command_execution" || item.type === "mcp_tool_call"
        ? `▸ ${actOf(item)}`
        : undefined;
    case "item.completed":
      return showItem(item);
    default:
      return undefined;
  }
}

function showItem(item: StreamEvent): string | undefined {
  switch (item.type) {
    case "agent_message":
      return String(item.text ?? "").trim() || undefined;
    case "command_execution":
      return `  ${item.exit_code === 0 ? "" : `✗ ${item.exit_code}: `}${oneLine(item.aggregated_output, 200)}`;
    case "file_change":
      return `▸ ${actOf(item)}`;
    case "error":
      return `! ${oneLine(item.message, 200)}`;
    default:
      return undefined;
  }
}
