import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readAll } from "node:stream/consumers";

/**
 * A model on loopback that says what a test wrote down, in the four languages that agents speak: Anthropic Messages,
 * OpenAI Responses, OpenAI Chat Completions and Gemini's. Every request is kept, because what reached the model is the proof.
 */
export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
  /** Responses only: the server that the tool belongs to. */
  namespace?: string;
}

export interface RecordedRequest {
  body: Body;
  /** All that the model could read in it: every string of the body, one after another. */
  text: string;
  /** What came since the model's last turn: the results of its calls, and what the agent added to them. */
  news: string;
}

/** One turn of the model: words, tool calls, or both. A function sees the request that it answers. */
export interface Turn {
  say?: string;
  call?: ToolCall | readonly ToolCall[];
  /** It never answers. */
  hangs?: boolean;
  /** Messages only: how many tokens it says it has read. */
  reads?: number;
}
export type Step = Turn | ((request: RecordedRequest) => Turn);

export interface ScriptedModel {
  url: string;
  /** Every request of the conversation, in order. */
  requests: RecordedRequest[];
  close(): Promise<void>;
}

/** What the wire formats have in common: which turn this is, whether tools are offered, and how a turn is written. */
interface Wire {
  path: RegExp;
  items(body: Body): Body[];
  isModels(item: Body): boolean;
  answer(turn: Turn, turnNumber: number, body: Body): { whole: unknown; events: Event[] };
}

// biome-ignore lint/suspicious/noExplicitAny: the bodies are other programs' JSON, in three shapes
type Body = any;
type Event = { name?: string; data: unknown };

const AFTER_THE_SCRIPT: Turn = { say: "The script has ended." };

export async function startModel(
  script: readonly Step[],
  options: {
    /** Answers a request with this status, by what is asked, as a provider does that refuses or is down. */
    fail?: (asked: string) => number | undefined;
    /** Keeps no requests: hours of conversations would fill the memory. */
    forgets?: boolean;
  } = {},
): Promise<ScriptedModel> {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    serve(request, response, script, options.forgets ? [] : requests, options.fail).catch((error) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  script: readonly Step[],
  requests: RecordedRequest[],
  fail: (asked: string) => number | undefined = () => undefined,
): Promise<void> {
  const raw = await readAll(request);
  const path = (request.url ?? "").split("?")[0] ?? "";
  const wire = WIRES.find((one) => one.path.test(path));
  if (request.method !== "POST" || !wire) {
    sendOther(path, response);
    return;
  }
  const status = fail(raw);
  if (status !== undefined) {
    refuse(response, status);
    return;
  }
  const body = JSON.parse(raw) as Body;
  const hasTools = (body.tools ?? []).length > 0;
  const items = wire.items(body);
  const news = items.slice(items.findLastIndex(wire.isModels) + 1);
  const recorded = { body, text: stringsIn(body).join("\n"), news: stringsIn(news).join("\n") };
  if (hasTools) requests.push(recorded);
  // Agents also ask for titles and the like, without tools: that is no turn of the conversation.
  const number = hasTools ? countRows(items, wire.isModels) : 0;
  const step = hasTools ? (script[number] ?? AFTER_THE_SCRIPT) : { say: "ok" };
  const turn = typeof step === "function" ? step(recorded) : step;
  if (turn.hangs) return;
  const { whole, events } = wire.answer(turn, number, body);
  if (!body.stream && !path.endsWith(":streamGenerateContent")) {
    sendJson(response, whole);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const { name, data } of events)
    response.write(
      `${name ? `event: ${name}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`,
    );
  response.end();
}

function refuse(response: ServerResponse, status: number): void {
  const error = { type: "api_error", message: `scripted failure ${status}`, code: "scripted" };
  response.writeHead(status, { "content-type": "application/json", "retry-after": "1" });
  response.end(JSON.stringify({ type: "error", error }));
}

function sendOther(path: string, response: ServerResponse): void {
  if (path.endsWith("/count_tokens")) sendJson(response, { input_tokens: 10 });
  else if (path.endsWith(":countTokens")) sendJson(response, { totalTokens: 10 });
  else if (path.endsWith("/models")) sendJson(response, { object: "list", data: [], models: [] });
  else response.writeHead(path === "/" ? 200 : 404).end();
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

const callsOf = ({ call }: Turn): readonly ToolCall[] =>
  call === undefined ? [] : Array.isArray(call) ? call : [call as ToolCall];

/** A turn of the model is an unbroken row of what the model said; the transcript alone tells how many there were. */
function countRows(items: readonly unknown[], isModels: (item: Body) => boolean): number {
  return items.filter((item, at) => isModels(item) && !(at > 0 && isModels(items[at - 1]))).length;
}

const messages: Wire = {
  path: /\/messages$/,
  items: (body) => body.messages ?? [],
  isModels: (one) => one.role === "assistant",
  answer(turn, number, body) {
    const content = [
      ...(turn.say === undefined ? [] : [{ type: "text", text: turn.say }]),
      ...callsOf(turn).map((call, at) => ({
        ...{ type: "tool_use", id: `toolu_${number}_${at}`, name: call.name, input: call.input },
      })),
    ];
    const stop_reason = callsOf(turn).length > 0 ? "tool_use" : "end_turn";
    const usage = {
      input_tokens: turn.reads ?? 10,
      output_tokens: 5,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    };
    const message = { id: `msg_${number}`, type: "message", role: "assistant", model: body.model, usage };
    const event = (name: string, data: object): Event => ({ name, data: { type: name, ...data } });
    return {
      whole: { ...message, content, stop_reason, stop_sequence: null },
      events: [
        event("message_start", {
          message: { ...message, content: [], stop_reason: null, stop_sequence: null },
        }),
        ...content.flatMap((block, index) => [
          event("content_block_start", {
            index,
            content_block: "text" in block ? { type: "text", text: "" } : { ...block, input: {} },
          }),
          event("content_block_delta", {
            index,
            delta:
              "text" in block
                ? { type: "text_delta", text: block.text }
                : { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
          }),
          event("content_block_stop", { index }),
        ]),
        event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } }),
        event("message_stop", {}),
      ],
    };
  },
};

const MODEL_ITEMS = ["function_call", "custom_tool_call", "local_shell_call", "reasoning"];

const responses: Wire = {
  path: /\/responses$/,
  items: (body) => body.input ?? [],
  isModels: (one) => MODEL_ITEMS.includes(one.type) || one.role === "assistant",
  answer(turn, number, body) {
    const output = [
      ...(turn.say === undefined
        ? []
        : [
            {
              ...{ type: "message", role: "assistant", id: `m_${number}`, status: "completed" },
              content: [{ type: "output_text", text: turn.say, annotations: [] }],
            },
          ]),
      ...callsOf(turn).map((call, at) => ({
        ...{
          type: "function_call",
          id: `fc_${number}_${at}`,
          call_id: `call_${number}_${at}`,
          status: "completed",
        },
        ...{ name: call.name, arguments: JSON.stringify(call.input) },
        ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
      })),
    ];
    const usage = {
      ...{ input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const response = { id: `resp_${number}`, object: "response", model: body.model };
    const event = (name: string, data: object): Event => ({ name, data: { type: name, ...data } });
    const whole = { ...response, status: "completed", output, usage };
    return {
      whole,
      events: [
        event("response.created", { response: { ...response, status: "in_progress", output: [] } }),
        ...output.flatMap((item, output_index) => [
          event("response.output_item.added", { output_index, item }),
          event("response.output_item.done", { output_index, item }),
        ]),
        event("response.completed", { response: whole }),
      ],
    };
  },
};

const completions: Wire = {
  path: /\/chat\/completions$/,
  items: (body) => body.messages ?? [],
  isModels: (one) => one.role === "assistant",
  answer(turn, number, body) {
    const tool_calls = callsOf(turn).map((call, index) => ({
      ...{ index, id: `call_${number}_${index}`, type: "function" },
      function: { name: call.name, arguments: JSON.stringify(call.input) },
    }));
    const finish_reason = tool_calls.length > 0 ? "tool_calls" : "stop";
    const message = {
      ...{ role: "assistant", content: turn.say ?? null },
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const common = { id: `chatcmpl_${number}`, created: 1, model: body.model };
    const chunk = (delta: object, reason: string | null, more = {}): Event => ({
      data: {
        ...common,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason: reason }],
        ...more,
      },
    });
    return {
      whole: { ...common, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage },
      events: [chunk(message, null), chunk({}, finish_reason, { usage }), { data: "[DONE]" }],
    };
  },
};

const generateContent: Wire = {
  path: /:(?:stream)?[gG]enerateContent$/,
  items: (body) => body.contents ?? [],
  isModels: (one) => one.role === "model",
  answer(turn) {
    const parts = [
      ...(turn.say === undefined ? [] : [{ text: turn.say }]),
      ...callsOf(turn).map(({ name, input }) => ({ functionCall: { name, args: input } })),
    ];
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    const candidate = { content: { role: "model", parts }, finishReason: "STOP", index: 0 };
    const whole = { candidates: [candidate], usageMetadata };
    return { whole, events: [{ data: whole }] };
  },
};

const WIRES: readonly Wire[] = [messages, responses, completions, generateContent];
