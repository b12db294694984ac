import { expect, test } from "vitest";
import { NOTHING_YET, type StreamEvent } from "../../src/agents/program.ts";
import { claude } from "../../src/agents/programs/claude.ts";
import { judgeOutcome } from "../../src/judge/runs/outcome.ts";

/** How a run ends that printed these events and then exited with 0, unasked. */
function endOf(events: readonly StreamEvent[]): string {
  const { verdict, denied } = events.reduce((told, event) => claude.read(event, told), NOTHING_YET);
  const { endsByEvent } = claude;
  const ended = judgeOutcome({
    stop: undefined,
    exit: { code: 0, lost: undefined },
    verdict,
    denied,
    endsByEvent,
  });
  return [ended.status, ended.reason].filter(Boolean).join(" ");
}

const user = (content: unknown, inside: string | null = null): StreamEvent => ({
  type: "user",
  message: { role: "user", content },
  parent_tool_use_id: inside,
});
const INTERRUPTED = "[Request interrupted by user for tool use]";
const text = (words: string) => [{ type: "text", text: words }];
const result = (more: object): StreamEvent => ({ type: "result", num_turns: 1, ...more });

// Claude's handling of SIGINT races with its exit: one of 72 interrupted runs beside busy loops had no `result`.
test.each<[string, readonly StreamEvent[], string]>([
  ["interrupted, and gone before its result", [user(text(INTERRUPTED))], "interrupted exit"],
  [
    "interrupted, with its result",
    [
      user(text(INTERRUPTED)),
      result({ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" }),
    ],
    "interrupted exit",
  ],
  ["a helper of its own was interrupted", [user(text(INTERRUPTED), "toolu_1")], "failed no_result"],
  [
    "a tool printed the same words",
    [user([{ type: "tool_result", content: INTERRUPTED, tool_use_id: "toolu_1" }])],
    "failed no_result",
  ],
  ["the words are a plain string", [user(INTERRUPTED)], "failed no_result"],
  ["no result at all", [], "failed no_result"],
  [
    "what follows the interruption counts",
    [user(text(INTERRUPTED)), result({ subtype: "success", is_error: false, result: "Done." })],
    "succeeded",
  ],
])("%s", (_, events, expected) => {
  expect(endOf(events)).toBe(expected);
});
