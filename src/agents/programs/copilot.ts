import type { Role } from "../../model/records/attempt.ts";
import type { AgentProgress } from "../../ports/agents.ts";
import type { AgentProgram, StreamEvent, Wish } from "../program.ts";
import { modelReason, oneLine, shortPath, tokens, withFiles } from "./words.ts";

/** A linked worktree's git folder lies outside of it, and Copilot refuses such paths unless everything is allowed. */
const WRITES = ["--yolo"];
/** Tools that change something, run something, or hand work to others; nobody is offered what it may not use. */
const HANDS = [
  ...["bash", "read_bash", "write_bash", "stop_bash", "list_bash", "create", "edit", "apply_patch", "sql"],
  ...["task", "write_agent", "read_agent", "list_agents"],
];
const READS = ["--yolo", "--excluded-tools", ...HANDS];
const PERMISSIONS: Readonly<Record<Role, readonly string[]>> = {
  author: WRITES,
  fixer: WRITES,
  reviewer: READS,
  manager: READS,
  conductor: READS,
};
const USAGE = "usage.json";

export const copilot: AgentProgram = {
  name: "copilot",
  title: "GitHub Copilot",
  actor: "copilot",
  bin: "copilot",
  natives: ["../copilot-{os}-{cpu}/copilot", "node_modules/@github/copilot-{os}-{cpu}/copilot"],
  paths: [],
  manifest: "package.json",
  session: "chosen",
  resumes: true,
  tells: { turns: true, cost: false },
  countsOn: false,
  endsByEvent: true,
  start: (wish) => launch(wish, ["--session-id", wish.session]),
  resume: (wish) => launch(wish, [`--resume=${wish.session}`]),
  read,
  show,
  usageFile: { name: USAGE, read: readUsage },
};

function launch({ role, model, folder, mcp, more }: Wish, session: readonly string[]) {
  const servers = { mcpServers: { pawl: { type: "local", tools: ["*"], ...mcp } } };
  return {
    args: [
      ...PERMISSIONS[role],
      // Without streaming, most of what it would print is left out.
      ...["--no-ask-user", "--no-auto-update", "--output-format", "json", "--stream", "off", ...session],
      ...["--usage-output-file", `${folder}/${USAGE}`, "--additional-mcp-config", `@${folder}/mcp.json`],
      ...(model === undefined ? [] : ["--model", model]),
      ...more,
    ],
    files: { "mcp.json": JSON.stringify(servers) },
  };
}

function read(event: StreamEvent, before: AgentProgress): AgentProgress {
  const { data } = event;
  switch (event.type) {
    case "assistant.turn_start":
      return { ...before, turns: before.turns + 1 };
    case "assistant.message":
      return {
        ...before,
        model: data?.model ?? before.model,
        said: data?.content ? oneLine(data.content, 500) : before.said,
      };
    case "tool.execution_start":
      return {
        ...before,
        last: actOf(data),
        delegated: before.delegated || /^(?:task|write_agent)$/.test(data?.toolName ?? ""),
      };
    case "tool.execution_complete":
      return {
        ...before,
        files: withFiles(
          before,
          (data?.fileEdits ?? []).map((one: StreamEvent) => one.path),
        ),
        denied: before.denied + (isDenial(data?.error) ? 1 : 0),
      };
    case "session.error":
      return { ...before, verdict: failureOf(data) };
    case "abort": {
      const words = oneLine(`aborted: ${data?.reason}`);
      return { ...before, verdict: { ok: false, reason: "exit", words, aborted: true } };
    }
    case "result":
      return readResult(event, before);
    default:
      return before;
  }
}

const failureOf = (data: StreamEvent): AgentProgress["verdict"] => ({
  ok: false,
  reason: data?.errorType === "authentication" ? "model_auth" : modelReason(data?.statusCode),
  words: oneLine(data?.message, 300),
});

/** By a rule that denies it, or because nobody was there to be asked. */
const isDenial = (error: StreamEvent) =>
  error?.code === "denied" || /^Permission denied/.test(error?.message ?? "");

/** What went wrong was told before the end, which only says that something did; and not even that after a signal. */
function readResult(event: StreamEvent, before: AgentProgress): AgentProgress {
  const ok = event.exitCode === 0 && !before.verdict?.aborted;
  const failed = before.verdict?.ok === false ? before.verdict : undefined;
  return {
    ...before,
    session: event.sessionId ?? before.session,
    files: withFiles(before, event.usage?.codeChanges?.filesModified ?? []),
    verdict: ok
      ? { ok, reason: undefined, words: before.said }
      : (failed ?? { ok, reason: "exit", words: before.said }),
  };
}

function readUsage(text: string, before: AgentProgress): AgentProgress {
  const metrics = Object.values((JSON.parse(text) as StreamEvent).modelMetrics ?? {}) as StreamEvent[];
  const total = { input: 0, cached: 0, output: 0 };
  for (const { usage } of metrics) {
    const one = tokens(usage?.inputTokens, usage?.cacheReadTokens, usage?.outputTokens);
    total.input += one.input;
    total.cached += one.cached;
    total.output += one.output;
  }
  return { ...before, tokens: total };
}

function actOf(data: StreamEvent): string {
  const input = data?.arguments ?? {};
  const what = input.command ?? input.path ?? input.pattern ?? input.skill ?? "";
  return oneLine(`${data?.toolName} ${input.path ? shortPath(what) : what}`);
}

function show(event: StreamEvent): string | undefined {
  const { data } = event;
  switch (event.type) {
    case "assistant.message":
      return String(data?.content ?? "").trim() || undefined;
    case "tool.execution_start":
      return `▸ ${actOf(data)}`;
    case "tool.execution_complete":
      return `  ${data?.success ? "" : "✗ "}${oneLine(data?.result?.content ?? data?.error?.message, 200)}`;
    case "session.error":
      return `✗ ${oneLine(data?.message, 300)}`;
    case "abort":
      return `✗ aborted: ${oneLine(data?.reason)}`;
    case "result":
      return `${event.exitCode === 0 ? "✓" : "✗"} exit ${event.exitCode}`;
    default:
      return undefined;
  }
}
