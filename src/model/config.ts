import { LEVELS, type Level } from "./approvers.ts";
import { Failure } from "./failure.ts";
import {
  type Field,
  type FieldValues,
  flag,
  group,
  type JsonSchema,
  list,
  oneOf,
  optional,
  readFields,
  schemaOfFields,
  text,
  withDefault,
} from "./fields.ts";
import { type HeaderValue, readHeaderFast } from "./markdown/front-matter.ts";
import { type FullYaml, NeedsFullYaml } from "./record.ts";
import { PROFILES } from "./records/task.ts";
import { MERGE_STYLES, type MergeStyle } from "./statement.ts";

export interface Check {
  name: string;
  argv: string[];
}

const LINE: JsonSchema = { type: "string", minLength: 1 };
/** A line for the shell, or the words of a command. */
const COMMAND: JsonSchema = { anyOf: [LINE, { type: "array", items: LINE, minItems: 1 }] };

/** A project without tests says `none`; one that says nothing has not decided, and any check will do. */
export type Checks = Check[] | "none";

const checks: Field<Checks> = {
  schema: () => ({ anyOf: [{ type: "object", additionalProperties: COMMAND }, { const: "none" }] }),
  example: "\n  test: npm test",
  fallback: [],
  read(value) {
    if (value === "") return { ok: true, value: [] };
    if (value === "none") return { ok: true, value };
    if (typeof value !== "object" || Array.isArray(value))
      return { ok: false, expected: "names with commands, such as `test: npm test`" };
    const found: Check[] = [];
    for (const [name, command] of Object.entries(value)) {
      const words = list(text("npm")).read(command);
      if (typeof command === "string" && command !== "") found.push({ name, argv: ["sh", "-c", command] });
      else if (words.ok && words.value.length > 0) found.push({ name, argv: words.value });
      else return { ok: false, expected: `a command for the check "${name}"` };
    }
    return { ok: true, value: found };
  },
  print: (value) =>
    value === "none" ? value : Object.fromEntries(value.map((check) => [check.name, check.argv])),
};

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Variables for checks. One without a value is taken from whoever runs the check. */
const env: Field<Record<string, string>> = {
  schema: () => ({
    type: "object",
    propertyNames: { pattern: VARIABLE.source },
    additionalProperties: { type: "string" },
  }),
  example: "\n  CI: true",
  fallback: {},
  read(value) {
    if (value === "") return { ok: true, value: {} };
    if (typeof value !== "object" || Array.isArray(value))
      return { ok: false, expected: "names with values, such as `CI: true`" };
    for (const [name, one] of Object.entries(value)) {
      if (!VARIABLE.test(name)) return { ok: false, expected: `another name than "${name}"` };
      if (typeof one !== "string") return { ok: false, expected: `some text for "${name}"` };
    }
    return { ok: true, value: value as Record<string, string> };
  },
  print: (value) => value,
};

/** A line for the shell, or the words of a command. */
const setup: Field<string[] | undefined> = {
  schema: () => COMMAND,
  example: "npm ci",
  fallback: undefined,
  read(value) {
    if (typeof value === "string" && value !== "") return { ok: true, value: ["sh", "-c", value] };
    const words = list(text("npm")).read(value);
    return words.ok && words.value.length > 0 ? words : { ok: false, expected: "a command" };
  },
  print: (value) => value,
};

export interface FormatCheck {
  /** A pathspec of git such as `*.ts`; empty for every file. */
  files: string;
  /** Run by `sh` at the top of the worktree; `{files}` stands for the names of the files. */
  command: string;
}

const format: Field<FormatCheck[]> = {
  schema: () => ({ anyOf: [LINE, { type: "object", additionalProperties: LINE }] }),
  example: '\n  "*.ts": npx biome check {files}',
  fallback: [],
  read(value) {
    if (value === "") return { ok: true, value: [] };
    if (typeof value === "string") return { ok: true, value: [{ files: "", command: value }] };
    if (Array.isArray(value)) return { ok: false, expected: "a command, or files with commands" };
    const found: FormatCheck[] = [];
    for (const [files, command] of Object.entries(value)) {
      if (typeof command !== "string" || command === "")
        return { ok: false, expected: `a command for the files "${files}"` };
      found.push({ files, command });
    }
    return { ok: true, value: found };
  },
  print: (value) => Object.fromEntries(value.map((one) => [one.files, one.command])),
};

const trustedRemote = {
  name: text("origin"),
  /** As `git remote get-url` shows it, without a password. */
  address: text("git@example.com:team/project.git"),
  /** Whatever reaches its protected branches needs an approval, wherever it came from. */
  guarded: withDefault(flag, false),
};

/** A remote whose protected branches may be pulled, as the policy names it. */
export type TrustedRemote = FieldValues<typeof trustedRemote>;

export interface AgentConfig {
  name: string;
  /** A program of the project's own that takes a prompt on standard input; undefined for one that pawl knows. */
  command: string[] | undefined;
  model: string | undefined;
  /** Words that are added to its command line. */
  args: string[];
  /** US dollars for a million tokens, for programs that do not say what they cost. */
  prices: { input: number; cached: number; output: number } | undefined;
}

const price: Field<number> = {
  schema: () => ({ type: "number", minimum: 0 }),
  example: "1.25",
  fallback: 0,
  read: (value) =>
    typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value)
      ? { ok: true, value: Number(value) }
      : { ok: false, expected: "a price such as 1.25" },
  print: (value) => value,
};

/** A text is given to the shell, a list is run as it is; either way more words may follow. */
const command: Field<string[] | undefined> = {
  schema: () => COMMAND,
  example: "./agent.sh --quiet",
  fallback: undefined,
  read(value) {
    if (typeof value === "string" && value !== "")
      return { ok: true, value: ["sh", "-c", `${value} "$@"`, "sh"] };
    const words = list(text("docker")).read(value);
    return words.ok && words.value.length > 0 ? words : { ok: false, expected: "a command" };
  },
  print: (value) => value,
};

const agentFields = {
  command,
  model: optional(text("opus")),
  args: list(text("--verbose")),
  prices: optional(group({ input: price, cached: price, output: price })),
};

const AGENT_NAME = /^[a-z][a-z0-9-]{0,30}$/;

const agents: Field<AgentConfig[]> = {
  schema: () => ({
    type: "object",
    propertyNames: { pattern: AGENT_NAME.source },
    additionalProperties: schemaOfFields(agentFields),
  }),
  example: "\n  mine:\n    command: ./agent.sh",
  fallback: [],
  read(value) {
    if (value === "") return { ok: true, value: [] };
    if (typeof value !== "object" || Array.isArray(value))
      return { ok: false, expected: "names with settings, such as `mine: { command: ./agent.sh }`" };
    const found: AgentConfig[] = [];
    for (const [name, settings] of Object.entries(value)) {
      const read = group(agentFields).read(settings);
      if (!AGENT_NAME.test(name)) return { ok: false, expected: `another name than "${name}"` };
      if (!read.ok) return { ok: false, expected: `for "${name}" ${read.expected}` };
      found.push({ name, ...read.value });
    }
    return { ok: true, value: found };
  },
  print: (value) => Object.fromEntries(value.map(({ name, command: words }) => [name, words ?? []])),
};

const WHO_MAY_RUN = ["human", "agents"] as const;

/** What makes a human's yes: typed on a terminal, or signed with an enrolled key as well. */
const APPROVALS = ["terminal", "signed"] as const;

/** `.pawl/config.yaml`: the project's policy, tracked with the project. */
const configFields = {
  profile: withDefault(oneOf(PROFILES), "standard" as const),
  base_branch: withDefault(text("main"), ""),
  checks,
  setup,
  env,
  /** An approval runs the required checks itself, once more. */
  recheck: optional(flag),
  format,
  /** How an approval brings a task's work into its base. */
  style: withDefault(oneOf(MERGE_STYLES), "merge" as const),
  /** Patterns such as `release/*`; none means the remote's default branch, else main or master. */
  protected: list(text("main")),
  /** Absent while every clone decides for itself. */
  remotes: optional(list(group(trustedRemote))),
  approvals: withDefault(oneOf(APPROVALS), "terminal" as const),
  level: withDefault(oneOf(LEVELS), "present" as const),
  branch: withDefault(text("task/{id}-{slug}"), "task/{id}-{slug}"),
  worktree: withDefault(text(".worktrees/{id}-{slug}"), ".worktrees/{id}-{slug}"),
  /** Absent: whatever git ignores. */
  scratch: optional(list(text("notes/**"))),
  agents,
  runs: withDefault(oneOf(WHO_MAY_RUN), "human" as const),
  runner: command,
  runner_stop: command,
};

export const configSchema = (): JsonSchema => schemaOfFields(configFields);

export interface Config {
  profile: (typeof PROFILES)[number];
  base_branch: string;
  checks: Checks;
  /** What `start` runs in a new worktree, so that the checks can run there. */
  setup: string[] | undefined;
  /** Variables that checks run with, besides the ones that pawl keeps for them. */
  env: Record<string, string>;
  recheck: boolean | undefined;
  /** What the files of a commit have to pass, as git's `pre-commit` hook runs it. */
  format: FormatCheck[];
  style: MergeStyle;
  protected: string[];
  remotes: TrustedRemote[] | undefined;
  approvals: (typeof APPROVALS)[number];
  /** What a signature has to say at least, where approvals are signed. */
  level: Level;
  /** Templates with {id} and {slug}; a worktree's path is relative to its repository's main worktree. */
  branch: string;
  worktree: string;
  /** Where agents may write files that git does not track, in the main checkout. */
  scratch: string[] | undefined;
  agents: AgentConfig[];
  /** Who may start, stop and resume runs: a human, or agents as well. */
  runs: (typeof WHO_MAY_RUN)[number];
  /** What agents are started with, in place of starting them here; and what ends it where signals do not reach. */
  runner: string[] | undefined;
  runner_stop: string[] | undefined;
}

/** Anything that the strict subset reader leaves to a full parser is left to the one that is given. */
export function readConfigText(path: string, text: string, fullYaml: FullYaml | undefined): Config {
  const fast = readHeaderFast(text);
  if (fast) return parseConfig(path, fast);
  if (!fullYaml) throw new NeedsFullYaml();
  try {
    return parseConfig(path, fullYaml.read(text));
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(
      "unreadable",
      "broken_config",
      `${path} is not readable YAML: ${(error as Error).message}`,
      { hint: "Repair the file by hand.", details: { file: path } },
    );
  }
}

export function parseConfig(path: string, header: ReadonlyMap<string, HeaderValue>): Config {
  const read = readFields(configFields, header);
  if (read.ok) return read.value;
  throw new Failure("unreadable", "broken_config", `${path}: "${read.key}" needs ${read.expected}.`, {
    hint: read.example === "" ? `Remove or rename "${read.key}".` : `Write it like this: ${read.example}`,
    details: { file: path, key: read.key },
  });
}
