import type { HeaderValue, PrintableValue } from "./markdown/front-matter.ts";

/**
 * One header field of a record: YAML gives strings, lists and maps, and the field alone decides what they mean.
 * That keeps a sha such as `1234e567` a sha and a title such as `2026-11-16` a title.
 */
export interface Field<T> {
  /** What JSON Schema says of it as it is written; made when it is asked for. */
  schema(): JsonSchema;
  /** The value, or a sentence that says what was expected. */
  read(value: HeaderValue): { ok: true; value: T } | { ok: false; expected: string };
  print(value: T): PrintableValue | undefined;
  /** How it may be written; put together when somebody has to be told. */
  readonly example: string;
  /** What a missing key means; a field without it must be present. */
  fallback?: T;
}

export type JsonSchema = { readonly [keyword: string]: unknown };

export type FieldTable = Readonly<Record<string, Field<unknown>>>;
export type FieldValues<F> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

const good = <T>(value: T): { ok: true; value: T } => ({ ok: true, value });
const bad = (expected: string): { ok: false; expected: string } => ({ ok: false, expected });

const same = <T>(value: T) => value;
const readText: Field<string>["read"] = (value) =>
  typeof value === "string" && value !== "" ? good(value) : bad("some text");

export function text(example: string): Field<string> {
  return {
    schema: () => ({ type: "string", minLength: 1 }),
    example,
    read: readText,
    print: same,
  };
}

/** Text that may be empty, such as a word of a command line. */
export const word: Field<string> = {
  schema: () => ({ type: "string" }),
  example: "npm",
  read: (value) => (typeof value === "string" ? good(value) : bad("a word")),
  print: same,
};

export function matching(pattern: RegExp | (() => RegExp), expected: string, example: string): Field<string> {
  return {
    schema: () => patternSchema(patternOf(pattern)),
    example,
    read: (value) =>
      typeof value === "string" && patternOf(pattern).test(value) ? good(value) : bad(expected),
    print: same,
  };
}

/** Validators disagree on whether a pattern is about Unicode; where it has to be, none is given. */
const patternSchema = ({ source, unicode }: RegExp): JsonSchema =>
  unicode ? { type: "string", minLength: 1 } : { type: "string", pattern: source };

const patternOf = (pattern: RegExp | (() => RegExp)) => (pattern instanceof RegExp ? pattern : pattern());

export const time = matching(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  "a UTC time",
  '"2026-11-16T09:30:00.000Z"',
);

export const sha = matching(
  /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/,
  "a full commit id",
  `"${"0123abcd".repeat(5)}"`,
);

export function oneOf<const V extends string>(values: readonly V[]): Field<V> {
  return {
    schema: () => ({ enum: [...values] }),
    example: values[0] ?? "",
    read: (value) => (values.includes(value as V) ? good(value as V) : bad(`one of ${values.join(", ")}`)),
    print: same,
  };
}

export const integer: Field<number> = {
  schema: () => ({ type: "integer" }),
  example: "1",
  read: (value) =>
    typeof value === "string" && /^-?\d{1,15}$/.test(value) ? good(Number(value)) : bad("a whole number"),
  print: same,
};

export const flag: Field<boolean> = {
  schema: () => ({ type: "boolean" }),
  example: "true",
  read: (value) => (value === "true" || value === "false" ? good(value === "true") : bad("true or false")),
  print: same,
};

/** The key may be missing; printing leaves it out again. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return {
    schema: field.schema,
    get example() {
      return field.example;
    },
    read: (value) => (value === "" ? good(undefined) : field.read(value)),
    print: (value) => (value === undefined ? undefined : field.print(value)),
    fallback: undefined,
  };
}

export function withDefault<T>(field: Field<T>, fallback: T): Field<T> {
  return { ...field, fallback };
}

export function list<T>(field: Field<T>): Field<T[]> {
  return {
    schema: () => ({ type: "array", items: field.schema() }),
    get example() {
      return `[${field.example}]`;
    },
    fallback: [],
    read(value) {
      if (value === "") return good([]);
      if (!Array.isArray(value)) return bad(`a list such as [${field.example}]`);
      const items: T[] = [];
      for (const [index, item] of value.entries()) {
        const one = field.read(item);
        if (!one.ok) return bad(`${one.expected} as item ${index + 1}`);
        items.push(one.value);
      }
      return good(items);
    },
    print: (value) => (value.length === 0 ? undefined : value.map((item) => field.print(item) ?? "")),
  };
}

/** A map with known keys, such as one slice in a task's list. */
export function group<F extends FieldTable>(fields: F): Field<FieldValues<F>> {
  const names = Object.keys(fields);
  return {
    schema: () => schemaOfFields(fields),
    get example() {
      return `{ ${names.map((name) => `${name}: ${fields[name]?.example}`).join(", ")} }`;
    },
    read(value) {
      if (typeof value !== "object" || Array.isArray(value)) return bad(`keys ${names.join(", ")}`);
      const read = readFields(fields, new Map(Object.entries(value)));
      return read.ok ? good(read.value) : bad(`${read.expected} for "${read.key}"`);
    },
    print(value) {
      const printed: Record<string, PrintableValue> = {};
      for (const [name, one] of printFields(fields, value)) if (one !== undefined) printed[name] = one;
      return printed;
    },
  };
}

/** A map of exactly these fields; those that mean something when they are missing need not be there. */
export function schemaOfFields(fields: FieldTable): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema()])),
    required: Object.keys(fields).filter((name) => !("fallback" in (fields[name] ?? {}))),
    additionalProperties: false,
  };
}

export type ReadFields<F> =
  | { ok: true; value: FieldValues<F> }
  | { ok: false; key: string; expected: string; example: string };

/** Strict: a key that no field knows is a mistake to be told, not a value to be dropped. */
export function readFields<F extends FieldTable>(
  fields: F,
  header: ReadonlyMap<string, HeaderValue>,
): ReadFields<F> {
  for (const key of header.keys())
    if (!Object.hasOwn(fields, key))
      return { ok: false, key, expected: `one of the keys ${Object.keys(fields).join(", ")}`, example: "" };
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const raw = header.get(name);
    if (raw === undefined && "fallback" in field) {
      values[name] = field.fallback;
      continue;
    }
    const read = raw === undefined ? bad("a value, but the key is missing") : field.read(raw);
    if (!read.ok)
      return { ok: false, key: name, expected: read.expected, example: `${name}: ${field.example}` };
    values[name] = read.value;
  }
  return { ok: true, value: values as FieldValues<F> };
}

export function printFields<F extends FieldTable>(
  fields: F,
  values: Partial<FieldValues<F>>,
): [string, PrintableValue | undefined][] {
  return Object.entries(values)
    .filter(([name]) => Object.hasOwn(fields, name))
    .map(([name, value]) => [name, (fields[name] as Field<unknown>).print(value)]);
}
