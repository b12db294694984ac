import type { Json } from "./edit/types.ts";

const WIDTH = 80;

/** JSON as prettier prints it with its own settings, so that formatting a project does not touch the file. */
export function printJson(value: Json): string {
  return `${print(value, "", 0, false)}\n`;
}

function print(value: Json, indent: string, used: number, comma: boolean): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const line = `[${value.map((one) => JSON.stringify(one)).join(", ")}]`;
    const plain = value.every((one) => one === null || typeof one !== "object");
    if (value.length === 0 || (plain && used + line.length + (comma ? 1 : 0) <= WIDTH)) return line;
    return lines("[", value.length, indent, "]", (at, more) =>
      print(value[at] as Json, deeper, deeper.length, more),
    );
  }
  const keys = Object.keys(value);
  if (keys.length === 0) return "{}";
  return lines("{", keys.length, indent, "}", (at, more) => {
    const key = `${JSON.stringify(keys[at])}: `;
    return key + print(value[keys[at] ?? ""] as Json, deeper, deeper.length + key.length, more);
  });
}

function lines(
  open: string,
  count: number,
  indent: string,
  close: string,
  item: (at: number, more: boolean) => string,
): string {
  const items = Array.from({ length: count }, (_, at) => `${indent}  ${item(at, at < count - 1)}`);
  return `${open}\n${items.join(",\n")}\n${indent}${close}`;
}
