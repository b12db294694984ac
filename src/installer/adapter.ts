import * as z from "zod/mini";
import type { Json } from "./edit/types.ts";

/**
 * What Pawl knows about an agent, as data in `adapters/<agent>/adapter.json`: where its skills lie, what things are called
 * there, and which files we own, hold a block in, or hold entries in. A new agent is a new folder.
 */

const json: z.ZodMiniType<Json, Json> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]),
);

const AGENTS = ["claude", "codex", "copilot", "gemini", "opencode", "cursor", "generic"] as const;

/** `key`: the value at that path is ours. `item`: one element of the array at that path is ours. */
export const entry = z.strictObject({
  at: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  kind: z.enum(["key", "item"]),
  value: json,
});

/** Inside the repository, in its own spelling: no way out, no second way to name the same file. */
const path = z
  .string()
  .check(z.regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.{}-]+(?:\/[\w.{}-]+)*$/, "a relative path with / only"));

const template = z.string().check(z.regex(/^[a-z]+\/[a-z-]+(?:\.[a-z]+)+\.hbs$/, "a file in adapters/"));

/** Every file may say who writes it instead, and behind which flag it is. */
const choices = { unless: z.optional(z.enum(AGENTS)), when: z.optional(z.enum(["vscode-local", "allow"])) };

const file = z.discriminatedUnion("mode", [
  z.strictObject({
    mode: z.literal("own"),
    path,
    template,
    /** One file for each skill; `{skill}` in the path is its name. */
    each: z.optional(z.literal("skill")),
    ...choices,
  }),
  z.strictObject({
    mode: z.literal("block"),
    path,
    template,
    comment: z.enum(["html", "hash"]),
    /** Where this line is in the user's own text already, the block says nothing new and is not written. */
    unlessLine: z.optional(z.string()),
    ...choices,
  }),
  z.strictObject({
    mode: z.literal("entry"),
    path,
    format: z.enum(["json", "toml"]),
    /** What the entries are, so that `.pawl/overrides/` can name them in all files at once. */
    surface: z.enum(["mcp", "hooks", "allow"]),
    entries: z.array(entry).check(z.minLength(1)),
    ...choices,
  }),
]);

const adapter = z.strictObject({
  agent: z.enum(AGENTS),
  title: z.string().check(z.minLength(1)),
  skills: z.strictObject({
    dir: z.enum([".claude/skills", ".agents/skills"]),
    rendering: z.enum(["claude", "portable"]),
    /** Keys of a skill's header that this rendering has beyond name and description. */
    keys: z.array(z.string()),
  }),
  /** How a person calls a skill there: "/{name}" or "${name}". */
  invoke: z.string().check(z.regex(/\{name\}/)),
  /** How the agent's permissions name a command of ours and a tool of our server, where it has such a list. */
  allow: z.optional(z.strictObject({ command: z.string(), tool: z.string() })),
  /** Words for abstract actions in skills, used there as `{{> act/ask-user}}`; left out: those of the shared rendering. */
  words: z.optional(z.record(z.string(), z.string())),
  files: z.array(file),
  /** What a person types next, one line each. */
  next: z.array(z.string().check(z.minLength(1))),
  /** What it still asks a person, and how often; `unless` names the flag that settles it. */
  prompts: z.array(
    z.strictObject({ text: z.string().check(z.minLength(1)), unless: z.optional(z.enum(["allow"])) }),
  ),
});

export type AgentName = (typeof AGENTS)[number];
export type AdapterFile = z.output<typeof file>;
export type Surface = Extract<AdapterFile, { mode: "entry" }>["surface"];
export type Flag = NonNullable<AdapterFile["when"]>;
export type Adapter = z.output<typeof adapter> & { words: Record<string, string> };

/** Our own data: anything that is not exactly of this form is a bug of ours. */
export function readAdapter(data: unknown, sharedWords: Record<string, string> = {}): Adapter {
  const read = adapter.parse(data);
  return { ...read, words: read.words ?? sharedWords };
}

export const adapterSchema = () => z.toJSONSchema(adapter) as Readonly<Record<string, unknown>>;
