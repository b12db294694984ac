import { resolve } from "node:path";
import type { Environment } from "../model/environment.ts";
import { type Agent, DIALECTS } from "./dialects.ts";

/** What an agent tells before or after it does something, in our words. */
export interface HookCall {
  agent: Agent;
  event: string;
  session: string;
  /** Where the agent stands. */
  folder: string;
  /** The text that its shell is about to run, or has run. */
  command: string | undefined;
  /** Files that a tool of its own is about to write, as it names them. */
  writes: string[];
  /** The agent was already sent back once by a hook, and stops again. */
  stoppedBefore: boolean;
}

/** Copilot reads Claude's settings too; only its environment tells. */
export function recogniseCaller(named: string | undefined, env: Environment): Agent {
  if (named !== "claude" && named !== undefined && Object.hasOwn(DIALECTS, named)) return named as Agent;
  return env.COPILOT_PROJECT_DIR || env.COPILOT_CLI ? "copilot" : "claude";
}

/** Tools that write files, by the names that they have in the agents and editors we know. */
const WRITERS =
  /(?:^|__|[.:/])(?:write|write_file|edit|edit_file|editFiles|multi_?edit|notebook_?edit|create|create_file|createFile|str_?replace\w*|replace_string_in_file|insert\w*|delete|delete_file|update_file|replace|patch|apply_patch)$/i;
const PATH_KEYS = ["file_path", "path", "notebook_path", "filePath", "target_file"];

export function readCall(agent: Agent, raw: string, cwd: string): HookCall | undefined {
  const input = objectOr(parseOr(raw));
  if (!input) return undefined;
  const toolInput = objectOr(input.tool_input) ?? {};
  const isWriter = WRITERS.test(textOr(input.tool_name) ?? "");
  const event = textOr(input.hook_event_name) ?? "";
  const { events } = DIALECTS[agent];
  const stands = textOr(input.cwd) ?? textOr(listOr(input.workspace_roots)[0]) ?? cwd;
  return {
    agent,
    event: Object.hasOwn(events, event) ? (events[event] ?? "") : event,
    session: textOr(input.session_id) ?? textOr(input.conversation_id) ?? "",
    // A shell tool may be told to begin elsewhere.
    folder: resolve(stands, textOr(toolInput.dir_path) ?? textOr(toolInput.workdir) ?? "."),
    command: isWriter ? undefined : commandOf(toolInput.command ?? toolInput.cmd),
    writes: isWriter ? writesOf(toolInput) : [],
    stoppedBefore:
      input.stop_hook_active === true || (typeof input.loop_count === "number" && input.loop_count > 0),
  };
}

/** A command may come as the words that start a shell; then the last one is the text. */
function commandOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return undefined;
  const isShell = value.length === 3 && /^-\w*c$/.test(value[1] ?? "");
  return isShell ? value[2] : value.map(quoted).join(" ");
}

const quoted = (word: string) => (/^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function writesOf(input: Record<string, unknown>): string[] {
  const named = PATH_KEYS.map((key) => textOr(input[key]));
  const patches = [input.input, input.patch, input.patchText, input.command].map(textOr);
  return [...named, ...patches.flatMap((text) => patchedFiles(text ?? ""))].filter(
    (path) => path !== undefined,
  );
}

/** The files that a patch in Codex's own form adds, changes, moves or deletes. */
export function patchedFiles(text: string): string[] {
  if (!text.includes("*** Begin Patch")) return [];
  return [...text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map((match) =>
    (match[1] ?? "").trim(),
  );
}

function parseOr(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}

const textOr = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

const listOr = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function objectOr(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
