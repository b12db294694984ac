import type { Role } from "../../model/records/attempt.ts";
import { plural } from "../../model/text.ts";
import type { AgentProgress } from "../../ports/agents.ts";
import type { AgentProgram, StreamEvent, Wish } from "../program.ts";
import { modelReason, oneLine, shortPath, tokens, withFiles } from "./words.ts";

/**
 * Nobody is there to be asked: what is not allowed is denied, and hooks stay on. Who only reads is offered nothing
 * else, so that neither a shell nor Claude's own ways to delegate can be tried.
 */
const WRITES = [
  "--allowedTools",
  "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,Glob,Grep,Skill,Task,Agent,TodoWrite,WebFetch,WebSearch,mcp__pawl",
];
const READS = [
  "--tools",
  "Read,Grep,Glob",
  "--allowedTools",
  "Read,Grep,Glob,mcp__pawl",
  "--strict-mcp-config",
];
const PERMISSIONS: Readonly<Record<Role, readonly string[]>> = {
  author: WRITES,
  fixer: WRITES,
  reviewer: READS,
  manager: READS,
  conductor: READS,
};
/** Claude's own ways to hand work to others. */
const DELEGATES = ["Agent", "Task", "Workflow", "SendMessage", "CronCreate"];

export const claude: AgentProgram = {
  name: "claude",
  title: "Claude Code",
  actor: "claude-code",
  bin: "claude",
  natives: [],
  paths: [],
  manifest: "../package.json",
  session: "chosen",
  resumes: true,
  tells: { turns: true, cost: true },
  countsOn: false,
  endsByEvent: true,
  start: (wish) => launch(wish, ["--session-id", wish.session]),
  resume: (wish) => launch(wish, ["--resume", wish.session]),
  read,
  show,
};

function launch(wish: Wish, session: readonly string[]) {
  const { role, model, limits, folder, mcp, more } = wish;
  const servers = { mcpServers: { pawl: { type: "stdio", ...mcp } } };
  return {
    args: [
      ...["-p", "--output-format", "stream-json", "--verbose", ...session],
      ...["--permission-mode", "dontAsk", ...PERMISSIONS[role]],
      ...["--mcp-config", `${folder}/mcp.json`],
      ...(model === undefined ? [] : ["--model", model]),
      ...(limits.turns === undefined ? [] : ["--max-turns", String(limits.turns)]),
      ...(limits.cost === undefined ? [] : ["--max-budget-usd", limits.cost]),
      ...more,
    ],
    files: { "mcp.json": JSON.stringify(servers) },
  };
}

function read(event: StreamEvent, before: AgentProgress): AgentProgress {
  switch (event.type) {
    case "system":
      return readSystem(event, before);
    case "assistant":
      return readAssistant(event, before);
    case "user":
      return readUser(event, before);
    case "result":
      return readResult(event, before);
    default:
      return before;
  }
}

function readSystem(event: StreamEvent, before: AgentProgress): AgentProgress {
  if (event.subtype === "init") return { ...before, session: event.session_id, model: event.model };
  if (event.subtype !== "api_retry") return before;
  const waiting = `${oneLine(event.error, 40)}, try ${event.attempt} of ${event.max_retries}`;
  // It would go on for three minutes; a key that is not accepted now will not be then.
  const hopeless = event.error === "authentication_failed" ? ("model_auth" as const) : before.hopeless;
  return { ...before, waiting, hopeless };
}

function readAssistant({ message }: StreamEvent, before: AgentProgress): AgentProgress {
  let next: AgentProgress = { ...before, waiting: undefined };
  for (const block of message?.content ?? []) {
    if (block.type === "text" && block.text) next = { ...next, said: oneLine(block.text, 500) };
    if (block.type !== "tool_use") continue;
    const path = block.input?.file_path ?? block.input?.notebook_path;
    next = {
      ...next,
      last: actOf(block),
      files: /^(?:Edit|MultiEdit|Write|NotebookEdit)$/.test(block.name)
        ? withFiles(next, [path])
        : next.files,
      delegated: next.delegated || DELEGATES.includes(block.name),
    };
  }
  // Each part of an answer is an event of its own, and all of them name the same message.
  const { id } = message ?? {};
  if (id === undefined || id === before.answer || message.model === "<synthetic>") return next;
  const known = next.tokens;
  const used = usageOf(message.usage);
  return {
    ...next,
    answer: id,
    turns: next.turns + 1,
    tokens: { ...known, input: known.input + used.input, cached: known.cached + used.cached },
  };
}

/**
 * What Claude writes in the user's name when a signal interrupts it. On a busy machine it exits before its `result`, and
 * with 0, so this may be all that tells the interruption from an end without a result.
 */
function readUser(event: StreamEvent, before: AgentProgress): AgentProgress {
  const next = { ...before, waiting: undefined };
  const isOwn = !event.parent_tool_use_id;
  const words = [event.message?.content ?? []]
    .flat()
    .find((block: StreamEvent) => block.type === "text" && /^\[Request interrupted/.test(block.text))?.text;
  if (!isOwn || words === undefined) return next;
  return { ...next, verdict: { ok: false, reason: "exit", words: oneLine(words, 300), aborted: true } };
}

function readResult(event: StreamEvent, before: AgentProgress): AgentProgress {
  const { usage } = event;
  return {
    ...before,
    session: event.session_id ?? before.session,
    turns: event.num_turns ?? before.turns,
    tokens: usageOf(usage),
    cost: typeof event.total_cost_usd === "number" ? event.total_cost_usd : before.cost,
    denied: event.permission_denials?.length ?? 0,
    said: event.result ? oneLine(event.result, 500) : before.said,
    waiting: undefined,
    verdict: verdictOf(event),
  };
}

/** Claude counts what the cache had apart; here, as everywhere else, it is part of the input. */
function usageOf(usage: StreamEvent): AgentProgress["tokens"] {
  const plain = tokens(usage?.input_tokens, usage?.cache_read_input_tokens, usage?.output_tokens);
  const written = tokens(usage?.cache_creation_input_tokens, 0, 0);
  return { ...plain, input: plain.input + plain.cached + written.input };
}

/** `subtype` says success even where `is_error` is true. */
function verdictOf(event: StreamEvent): AgentProgress["verdict"] {
  const words = oneLine(event.result ?? event.subtype, 300);
  if (event.subtype === "error_max_turns") return { ok: false, reason: "limit_turns", words };
  if (event.subtype === "error_max_budget_usd") return { ok: false, reason: "limit_cost", words };
  if (event.subtype === "success" && !event.is_error) return { ok: true, reason: undefined, words };
  if (/^aborted/.test(event.terminal_reason ?? ""))
    return { ok: false, reason: "exit", words, aborted: true };
  const status = event.api_error_status;
  return { ok: false, reason: status ? modelReason(status) : "exit", words };
}

function actOf({ name, input }: StreamEvent): string {
  const what =
    input?.command ?? input?.file_path ?? input?.pattern ?? input?.skill ?? input?.description ?? "";
  return oneLine(`${name} ${what}`);
}

function show(event: StreamEvent): string | undefined {
  if (event.type === "system" && event.subtype === "init")
    return `session ${event.session_id}, model ${event.model}`;
  if (event.type === "system" && event.subtype === "api_retry")
    return `… ${event.error}, try ${event.attempt} of ${event.max_retries}`;
  if (event.type === "result")
    return `${event.is_error ? "✗" : "✓"} ${plural(event.num_turns ?? 0, "turn")}: ${oneLine(event.result ?? event.subtype, 300)}`;
  if (event.type !== "assistant" && event.type !== "user") return undefined;
  const lines = [event.message?.content ?? []].flat().flatMap((block: StreamEvent) => showBlock(block) ?? []);
  return lines.length === 0 ? undefined : lines.join("\n");
}

function showBlock(block: StreamEvent): string | undefined {
  if (block.type === "text" && block.text) return String(block.text).trim();
  if (block.type === "tool_use") return `▸ ${shownAct(block)}`;
  if (block.type !== "tool_result") return undefined;
  const text = typeof block.content === "string" ? block.content : (block.content?.[0]?.text ?? "");
  return `  ${block.is_error ? "✗ " : ""}${oneLine(text, 200)}`;
}

const shownAct = (block: StreamEvent) =>
  block.input?.file_path ? `${block.name} ${shortPath(block.input.file_path)}` : actOf(block);
