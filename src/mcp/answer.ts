import { byteLength } from "../model/budget.ts";
import type { Failure } from "../model/failure.ts";
import { printable } from "../model/printable.ts";
import { PLAIN } from "../model/text.ts";
import type { AnyOperation, Body } from "../ports/operation.ts";
import type { Answer } from "../runtime/answer.ts";
import type { ToolSpec } from "./tools.ts";

/** What goes back for one call. A type and no interface, because the SDK wants room for keys of its own. */
export type ToolResult = {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
};

/** About 8,000 tokens: clients cut or refuse longer answers, each in its own way. */
const MOST_BYTES = 32_000;
const MOST_OUTPUT = 1_500;

/** The text of the command, what it warned of, and the one next command; beside it the same as data. */
export async function showAnswer(
  operation: AnyOperation,
  spec: ToolSpec,
  answer: Answer,
): Promise<ToolResult> {
  const { data, body, next, warnings } = answer;
  const lines = [
    answer.planned ? plannedText(answer.planned) : cut((await mainOf(operation, data, body)).trimEnd()),
    answer.ready ? "" : outputOf(data),
    ...warnings.map((one) => `note: ${one}`),
    next ? `next: ${next.command}  (${next.reason})` : "",
  ];
  const text = printable(lines.filter(Boolean).join("\n"));
  const whole = {
    ...(data as Record<string, unknown>),
    ...(next ? { next } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(answer.planned ? { planned: answer.planned } : {}),
  };
  const asData = spec.textOnly || byteLength(JSON.stringify(whole)) > MOST_BYTES ? undefined : whole;
  return { content: [{ type: "text", text }], ...(asData ? { structuredContent: asData } : {}) };
}

/** An operation that acts while it looks has nothing to say yet but what it would do. */
function plannedText(planned: NonNullable<Answer["planned"]>): string {
  return planned.map((one) => `would ${one.do} ${one.path}`).join("\n") || "It would change nothing.";
}

async function mainOf(operation: AnyOperation, data: unknown, body: Body | undefined): Promise<string> {
  return body ? firstOf(body) : operation.text(data, PLAIN);
}

export function showFailure(error: Failure): ToolResult {
  const { code, message, hint, details } = error;
  const text = printable(`${code}: ${message}${hint ? `\n${hint}` : ""}`);
  const asData = { error: { code, message, ...(hint ? { hint } : {}), ...(details ? { details } : {}) } };
  const fits = byteLength(JSON.stringify(asData)) <= MOST_BYTES;
  return {
    content: [{ type: "text", text: cut(text) }],
    ...(fits ? { structuredContent: asData } : {}),
    isError: true,
  };
}

/** An answer that is printed piece by piece on the command line; here only its beginning is. */
async function firstOf(body: Body): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body({ style: PLAIN, terminal: false })) {
    pieces.push(piece);
    size += piece.length;
    // One more than what is shown, so that the cut is told.
    if (size > MOST_BYTES) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}

function cut(text: string): string {
  if (byteLength(text) <= MOST_BYTES) return text;
  const kept = Buffer.from(text, "utf8")
    .subarray(0, MOST_BYTES)
    .toString("utf8")
    .replace(/\ufffd$/, "");
  const whole = kept.slice(0, kept.lastIndexOf("\n") + 1 || undefined);
  return `${whole.trimEnd()}\n[cut after ${MOST_BYTES / 1_000} kB: ask for less with the tool's arguments]`;
}

/** A check that failed says why in its last lines, and nobody over here has seen them run by. */
function outputOf(data: unknown): string {
  const { evidence } = data as { evidence?: { output?: string } | { output?: string; exit_code: number }[] };
  const failed = [evidence ?? []].flat().filter((one) => !("exit_code" in one) || one.exit_code !== 0);
  return failed
    .map((one) => (one.output ?? "").slice(-MOST_OUTPUT).trim())
    .filter(Boolean)
    .join("\n");
}
