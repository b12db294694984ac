import type { Entry, Json } from "./types.ts";

/** Objects without a prototype, so that a key called `__proto__` is a key like any other. */
export type Fields = { [key: string]: Json };

export function emptyFields(): Fields {
  return Object.create(null) as Fields;
}

export function isFields(value: Json | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function sameValue(one: Json, other: Json): boolean {
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((element, index) => sameValue(element, other[index] as Json))
    );
  if (!isFields(one) || !isFields(other)) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && sameValue(one[key] as Json, other[key] as Json))
  );
}

/** Puts an entry at a path below `fields`, making what is missing on the way, and tells the containers it made. */
export function place(
  fields: Fields,
  path: readonly string[],
  entry: Pick<Entry, "kind" | "value">,
): string[][] {
  const made: string[][] = [];
  let inner = fields;
  path.slice(0, -1).forEach((key, depth) => {
    if (!isFields(inner[key])) {
      inner[key] = emptyFields();
      made.push(path.slice(0, depth + 1));
    }
    inner = inner[key] as Fields;
  });
  const last = path.at(-1) ?? "";
  if (entry.kind === "key") inner[last] = entry.value;
  else if (Array.isArray(inner[last])) inner[last].push(entry.value);
  else {
    inner[last] = [entry.value];
    made.push([...path]);
  }
  return made;
}
