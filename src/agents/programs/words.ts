import { shorten } from "../../model/ids.ts";
import type { RunReason } from "../../model/records/attempt.ts";
import type { AgentProgress } from "../../ports/agents.ts";

/** More would make every look at a run slower, and nobody reads them all. */
const MOST_FILES = 300;

export const oneLine = (text: unknown, limit = 160) => shorten(String(text ?? ""), limit);

export function withFiles(before: AgentProgress, paths: readonly unknown[]): readonly string[] {
  const found = paths.filter((one): one is string => typeof one === "string" && !before.files.includes(one));
  return found.length === 0 ? before.files : [...before.files, ...found].slice(0, MOST_FILES);
}

/** What a model's refusal means, by the status of its answer or by words that hold it. */
export function modelReason(status: unknown): RunReason {
  const [code = ""] = /\b[45]\d\d\b/.exec(String(status ?? "")) ?? [];
  if (code === "401" || code === "403") return "model_auth";
  return code === "429" ? "model_rate" : "model_error";
}

/** Paths that only this clone has are told by their last parts. */
export const shortPath = (path: unknown) => String(path ?? "").slice(-80);

const count = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : 0);

/** Tokens by whatever names a program gives them. */
export function tokens(input: unknown, cached: unknown, output: unknown): AgentProgress["tokens"] {
  return { input: count(input), cached: count(cached), output: count(output) };
}
