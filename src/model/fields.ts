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

// Classes, because every command makes some two hundred fields before it does anything else: as literals with
// functions and a getter of its own, each of them would take ten times the memory.

class Text implements Field<string> {
  readonly example: string;
  constructor(example: string) {
    this.example = example;
  }
  schema(): JsonSchema {
    return { type: "string", minLength: 1 };
  }
  read(value: HeaderValue) {
    return typeof value === "string" && value !== "" ? good(value) : bad("some text");
  }
  print(value: string) {
    return value;
  }
}

export const text = (example: string): Field<string> => new Text(example);

/** Text that may be empty, such as a word of a command line. */
export const word: Field<string> = {
  schema: () => ({ type: "string" }),
  example: "npm",
  read: (value) => (typeof value === "string" ? good(value) : bad("a word")),
  print: (value) => value,
};

class Matching implements Field<string> {
  private readonly pattern: RegExp | (() => RegExp);
  private readonly expected: string;
  readonly example: string;
  constructor(pattern: RegExp | (() => RegExp), expected: string, example: string) {
    this.pattern = pattern;
    this.expected = expected;
    this.example = example;
  }
  private get regExp() {
    return this.pattern instanceof RegExp ? this.pattern : this.pattern();
  }
  /** Validators disagree on whether a pattern is about Unicode; where it has to be, none is given. */
  schema(): JsonSchema {
    const { source, unicode } = this.regExp;
    return unicode ? { type: "string", minLength: 1 } : { type: "string", pattern: source };
  }
  read(value: HeaderValue) {
    return typeof value === "string" && this.regExp.test(value) ? good(value) : bad(this.expected);
  }
  print(value: string) {
    return value;
  }
}

export const matching = (
  pattern: RegExp | (() => RegExp),
  expected: string,
  example: string,
): Field<string> => new Matching(pattern, expected, example);

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

class OneOf<V extends string> implements Field<V> {
  private readonly values: readonly V[];
  constructor(values: readonly V[]) {
    this.values = values;
  }
  get example() {
    return this.values[0] ?? "";
  }
  schema(): JsonSchema {
    return { enum: [...this.values] };
  }
  read(value: HeaderValue) {
    return this.values.includes(value as V) ? good(value as V) : bad(`one of ${this.values.join(", ")}`);
  }
  print(value: V) {
    return value;
  }
}

export const oneOf = <const V extends string>(values: readonly V[]): Field<V> => new OneOf(values);

export const integer: Field<number> = {
  schema: () => ({ type: "integer" }),
  example: "1",
  read: (value) =>
    typeof value === "string" && /^-?\d{1,15}$/.test(value) ? good(Number(value)) : bad("a whole number"),
  print: (value) => value,
};

export const flag: Field<boolean> = {
  schema: () => ({ type: "boolean" }),
  example: "true",
  read: (value) => (value === "true" || value === "false" ? good(value === "true") : bad("true or false")),
  print: (value) => value,
};

class WithDefault<T> implements Field<T> {
  private readonly field: Field<T>;
  readonly fallback: T;
  constructor(field: Field<T>, fallback: T) {
    this.field = field;
    this.fallback = fallback;
  }
  get example() {
    return this.field.example;
  }
  schema() {
    return this.field.schema();
  }
  read(value: HeaderValue) {
    return this.field.read(value);
  }
  print(value: T) {
    return this.field.print(value);
  }
}

export const withDefault = <T>(field: Field<T>, fallback: T): Field<T> => new WithDefault(field, fallback);

class Optional<T> extends WithDefault<T | undefined> {
  override read(value: HeaderValue) {
    return value === "" ? good(undefined) : super.read(value);
  }
  override print(value: T | undefined) {
    return value === undefined ? undefined : super.print(value);
  }
}

/** The key may be missing; printing leaves it out again. */
export const optional = <T>(field: Field<T>): Field<T | undefined> =>
  new Optional<T>(field as Field<T | undefined>, undefined);

class List<T> implements Field<T[]> {
  private readonly item: Field<T>;
  readonly fallback: T[] = [];
  constructor(item: Field<T>) {
    this.item = item;
  }
  get example() {
    return `[${this.item.example}]`;
  }
  schema(): JsonSchema {
    return { type: "array", items: this.item.schema() };
  }
  read(value: HeaderValue) {
    if (value === "") return good([]);
    if (!Array.isArray(value)) return bad(`a list such as ${this.example}`);
    const items: T[] = [];
    for (const [index, item] of value.entries()) {
      const one = this.item.read(item);
      if (!one.ok) return bad(`${one.expected} as item ${index + 1}`);
      items.push(one.value);
    }
    return good(items);
  }
  print(value: T[]) {
    return value.length === 0 ? undefined : value.map((item) => this.item.print(item) ?? "");
  }
}

export const list = <T>(item: Field<T>): Field<T[]> => new List(item);

class Group<F extends FieldTable> implements Field<FieldValues<F>> {
  private readonly fields: F;
  constructor(fields: F) {
    this.fields = fields;
  }
  get example() {
    const parts = Object.entries(this.fields).map(([name, field]) => `${name}: ${field.example}`);
    return `{ ${parts.join(", ")} }`;
  }
  schema() {
    return schemaOfFields(this.fields);
  }
  read(value: HeaderValue) {
    if (typeof value !== "object" || Array.isArray(value))
      return bad(`keys ${Object.keys(this.fields).join(", ")}`);
    const read = readFields(this.fields, new Map(Object.entries(value)));
    return read.ok ? good(read.value) : bad(`${read.expected} for "${read.key}"`);
  }
  print(value: FieldValues<F>) {
    const printed: Record<string, PrintableValue> = {};
    for (const [name, one] of printFields(this.fields, value)) if (one !== undefined) printed[name] = one;
    return printed;
  }
}

/** A map with known keys, such as one slice in a task's list. */
export const group = <F extends FieldTable>(fields: F): Field<FieldValues<F>> => new Group(fields);

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
