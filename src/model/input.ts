import * as z from "zod/mini";
import { Failure } from "./failure.ts";

/**
 * The words in which operations describe their input. Each is a zod schema that also knows how it looks on a
 * command line, so that the CLI, the MCP server and the web page are told once and cannot disagree.
 */
export interface FieldInfo {
  type: "text" | "flag" | "number" | "choice" | "list" | "objects";
  describe: string;
  /** How the value is called in help: `--file FILE`. */
  hint: string;
  /** What it may be; of objects, the fields that each may have. */
  choices?: readonly string[];
  required: boolean;
}

// A command parses one input in its life; zod's compiled parsers cost more than they save.
z.config({ jitless: true });

const known = new WeakMap<object, FieldInfo>();

export function fieldInfo(schema: object): FieldInfo {
  const info = known.get(schema);
  if (!info) throw new Error("An input field was not made with the helpers of model/input.ts");
  return info;
}

function withInfo<S extends object>(schema: S, info: FieldInfo): S {
  known.set(schema, info);
  return schema;
}

/** Pasted over several lines, it still is one. */
const tidy = z.overwrite((value: string) => value.replace(/\s*[\r\n]\s*/g, " ").trim());
const tidyProse = z.overwrite((value: string) =>
  value
    .replaceAll("\r\n", "\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd(),
);

/** Our own texts show what belongs somewhere as `<what belongs there>`; copied as it is, it would be recorded. */
const filledIn = z.refine<string>((value) => !/^<[^<>]*>$/.test(value), {
  error: "still has the example's placeholder; replace it with your own words",
});

/** Short text that is shown on one line, such as a title. */
export function line(describe: string, hint = "TEXT", max = 300) {
  return withInfo(z.string().check(tidy, z.minLength(1), z.maxLength(max), filledIn), {
    type: "text",
    describe,
    hint,
    required: true,
  });
}

/** Longer text; Markdown is welcome, so the indentation of its first line is kept. */
export function prose(describe: string, hint = "TEXT", max = 200_000) {
  return withInfo(z.string().check(tidyProse, z.minLength(1), z.maxLength(max), filledIn), {
    type: "text",
    describe,
    hint,
    required: true,
  });
}

/** Text that is taken as it is, such as a path or a word of a command line. */
export function raw(describe: string, hint: string, max = 100_000) {
  return withInfo(z.string().check(z.maxLength(max)), {
    type: "text",
    describe,
    hint,
    required: true,
  });
}

export function choice<const V extends readonly [string, ...string[]]>(values: V, describe: string) {
  return withInfo(z.enum(values), {
    type: "choice",
    describe,
    hint: values.join("|"),
    choices: values,
    required: true,
  });
}

export function count(describe: string, hint = "N", min = 1) {
  return withInfo(z.int().check(z.minimum(min)), {
    type: "number",
    describe,
    hint,
    required: true,
  });
}

export function flag(describe: string) {
  return withInfo(z.optional(z.boolean()), {
    type: "flag",
    describe,
    hint: "",
    required: false,
  });
}

export function many<S extends z.ZodMiniType<string, string>>(item: S, most = 500) {
  const info = fieldInfo(item);
  return withInfo(z.optional(z.array(item).check(z.maxLength(most))), {
    ...info,
    type: "list",
    required: false,
  });
}

/** A list of things with fields of their own; on the command line it is JSON. */
export function objects<const F extends z.core.$ZodLooseShape>(fields: F, describe: string, most: number) {
  const list = z.array(z.strictObject(fields));
  return withInfo(list.check(z.minLength(1), z.maxLength(most)), {
    type: "objects",
    describe,
    hint: "JSON",
    choices: Object.keys(fields),
    required: true,
  });
}

/** A list with at least one item. */
export function some<S extends z.ZodMiniType<string, string>>(item: S) {
  const info = fieldInfo(item);
  return withInfo(z.array(item).check(z.minLength(1), z.maxLength(500)), {
    ...info,
    type: "list",
    required: true,
  });
}

export function maybe<S extends z.ZodMiniType>(schema: S) {
  return withInfo(z.optional(schema), { ...fieldInfo(schema), required: false });
}

/** A plan is text wherever it comes from; the name of a file would be recorded as if it were one. */
export const planField = () =>
  maybe(
    withInfo(
      prose("how it will be done").check(
        z.refine((value) => !/^\S+\.(?:md|markdown|txt)$/i.test(value), {
          error:
            "looks like the name of a file; give the text itself, or --plan-file FILE on the command line",
        }),
      ),
      { type: "text", describe: "how it will be done", hint: "TEXT", required: true },
    ),
  );

/**
 * A commit that somebody relies on. A short id, a branch or a tag will not do: whoever may push can push a branch that is
 * named like a short id, and git takes the branch.
 */
export const wholeCommitId = (describe: string) =>
  withInfo(
    line(describe, "COMMIT", 80).check(
      z.refine((value) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value), {
        error:
          "has to be the whole id of the commit, because anybody can name a branch like a short one; `pawl approver list` shows it",
      }),
    ),
    { type: "text", describe, hint: "COMMIT", required: true },
  );

/** The `--task T` of every operation that is about a task. */
export const taskField = () => maybe(line("the task; by default the one you are in", "T", 40));

declare const checked: unique symbol;

/** What `parseInput` has let through: an operation is given nothing else. */
export type Parsed<T = object> = T & { readonly [checked]: true };

/** The parsed input, or a usage failure that names every field that is wrong and what it should be. */
export function parseInput<S extends z.ZodMiniObject>(schema: S, input: unknown): Parsed<z.output<S>> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data as Parsed<z.output<S>>;
  const issues = parsed.error.issues.map((issue) => ({
    field: issue.path.join("."),
    problem: explain(issue, input),
  }));
  const first = issues[0] ?? { field: "", problem: "the input is not valid" };
  throw new Failure("usage", "bad_input", issues.map((issue) => issue.problem).join("; "), {
    details: { field: first.field, issues },
  });
}

/** How a caller calls what a schema expects. */
const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  array: 'a list, such as ["…"]',
  object: "an object",
};

function explain(issue: z.core.$ZodIssue, input: unknown): string {
  const name = issue.path.filter((part) => typeof part === "string").join(".") || "input";
  // The issue itself does not say what was given.
  const given = issue.path.reduce((value, part) => (value as Record<PropertyKey, unknown>)?.[part], input);
  if (issue.code === "invalid_type" && given === undefined) return `"${name}" is needed`;
  switch (issue.code) {
    case "invalid_type":
      return `"${name}" must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}`;
    case "invalid_value":
      return `"${name}" must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return issue.origin === "string" ? `"${name}" is empty` : `"${name}" must be at least ${issue.minimum}`;
    case "too_big":
      return issue.origin === "string"
        ? `"${name}" is too long: ${issue.maximum} characters at most`
        : `"${name}" must be at most ${issue.maximum}`;
    case "unrecognized_keys":
      return `${issue.keys.map((key) => `"${key}"`).join(", ")} is not an option here`;
    case "custom":
      return `"${name}" ${issue.message}`;
    default:
      return `"${name}" is not valid`;
  }
}
