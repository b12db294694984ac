import fc from "fast-check";

/** A value as a user may have written it: members in order, names possibly twice, numbers as text. */
export type Odd =
  | { kind: "object"; members: [string, Odd][] }
  | { kind: "array"; items: Odd[] }
  | { kind: "scalar"; text: string };

export interface OddFile {
  root: Odd | undefined;
  text: string;
}

const SCALARS = [
  "null",
  "true",
  "0",
  "-1.50",
  "123456789012345678901234567890",
  "1e400",
  '""',
  '"a // b"',
  '"/* , } ]"',
  '"\\u00e9 é \\ud83d\\ude00 😀"',
  '"\\\\"',
];
const NAMES = [
  "mcpServers",
  "hooks",
  "PreToolUse",
  "Stop",
  "pawl",
  "a",
  "b",
  "é",
  "__proto__",
  "constructor",
  "a b",
];

const scalar = fc.constantFrom(...SCALARS).map((text): Odd => ({ kind: "scalar", text }));
const { value } = fc.letrec<{ value: Odd }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: "odd" },
    { weight: 2, arbitrary: scalar },
    { weight: 2, arbitrary: object(fc.constantFrom(...NAMES), tie("value")) },
    {
      weight: 1,
      arbitrary: fc.array(tie("value"), { maxLength: 3 }).map((items): Odd => ({ kind: "array", items })),
    },
  ),
}));

function object(names: fc.Arbitrary<string>, inner: fc.Arbitrary<Odd>): fc.Arbitrary<Odd> {
  return fc
    .uniqueArray(fc.tuple(names, inner), { maxLength: 4, selector: ([name]) => name })
    .map((members) => ({ kind: "object", members }));
}

/** Mostly files that have a place for us, with something in it. */
const likely: fc.Arbitrary<Odd> = fc
  .tuple(
    object(fc.constantFrom("a", "b", "é", "__proto__"), value),
    fc.option(object(fc.constantFrom("a", "other", "constructor"), value)),
    fc.option(
      fc.tuple(fc.option(fc.array(value, { maxLength: 3 })), object(fc.constantFrom("a", "Start"), value)),
    ),
    fc.nat({ max: 4 }),
  )
  .map(([root, servers, hooks, at]): Odd => {
    const members = root.kind === "object" ? [...root.members] : [];
    if (servers) members.splice(at, 0, ["mcpServers", servers]);
    if (hooks) {
      const [items, rest] = hooks;
      const list: [string, Odd][] = items ? [["PreToolUse", { kind: "array", items }]] : [];
      members.splice(2, 0, [
        "hooks",
        { kind: "object", members: rest.kind === "object" ? [...list, ...rest.members] : list },
      ]);
    }
    return { kind: "object", members };
  });

const COMMENTS = ["/* c */", "// c\n", "// , } ]\n", "/* é 😀\n */", "//\u00a0\n"];
const SPACES = ["", "", "", " ", "  ", "\n", "\n\n", "\t", "\n\t", "\n    "];

/** How a file is laid out: spaces and comments drawn for every place where some may stand. */
interface Layout {
  draw: () => string;
  trailing: () => boolean;
}

function write(odd: Odd, layout: Layout): string {
  const { draw } = layout;
  if (odd.kind === "scalar") return odd.text;
  const parts =
    odd.kind === "array"
      ? odd.items.map((item) => write(item, layout))
      : odd.members.map(([name, item]) => `${JSON.stringify(name)}${draw()}:${draw()}${write(item, layout)}`);
  const [open, close] = odd.kind === "array" ? "[]" : "{}";
  const list = parts.map((part) => `${draw()}${part}${draw()}`).join(",");
  const comma = parts.length > 0 && layout.trailing() ? `,${draw()}` : "";
  return `${open}${parts.length === 0 ? draw() : list}${comma}${close}`;
}

function pretty(odd: Odd, unit: string, indent: string): string {
  if (odd.kind === "scalar") return odd.text;
  const parts =
    odd.kind === "array"
      ? odd.items.map((item) => pretty(item, unit, indent + unit))
      : odd.members.map(([name, item]) => `${JSON.stringify(name)}: ${pretty(item, unit, indent + unit)}`);
  const [open, close] = odd.kind === "array" ? "[]" : "{}";
  if (parts.length === 0) return `${open}${close}`;
  return `${open}\n${parts.map((part) => indent + unit + part).join(",\n")}\n${indent}${close}`;
}

function cycle<T>(choices: readonly T[], otherwise: T): () => T {
  let at = 0;
  return () => (choices.length > 0 ? (choices[at++ % choices.length] as T) : otherwise);
}

const layout = fc.record({
  spaces: fc.array(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...SPACES) }, fc.constantFrom(...COMMENTS)),
    { maxLength: 12 },
  ),
  trailing: fc.array(fc.boolean(), { maxLength: 3 }),
  style: fc.constantFrom("odd", "odd", "two", "four", "tab", "compact"),
  crlf: fc.boolean(),
  mark: fc.boolean(),
  ending: fc.constantFrom("", "\n", "\n\n", " ", "\n// end", "\n// end\n"),
});

const UNITS: Record<string, string> = { two: "  ", four: "    ", tab: "\t" };

const written = (roots: fc.Arbitrary<Odd | undefined>): fc.Arbitrary<OddFile> =>
  fc.tuple(roots, layout).map(([root, { spaces, trailing, style, crlf, mark, ending }]) => {
    const draw = cycle(style === "odd" ? spaces : [], "");
    const unit = UNITS[style];
    const body =
      root === undefined
        ? spaces.slice(0, 3).join("")
        : unit
          ? pretty(root, unit, "")
          : write(root, { draw, trailing: cycle(style === "odd" ? trailing : [], false) });
    const text = draw() + body + ending;
    return { root, text: (mark ? "\ufeff" : "") + (crlf ? text.replaceAll("\n", "\r\n") : text) };
  });

/** Files in which there is room for our entries, unless they have an entry of that name already. */
export const roomyFiles = written(fc.oneof({ weight: 9, arbitrary: likely }, fc.constant(undefined)));
/** Any file at all: our containers may be something else, or there twice. */
export const anyFiles = written(
  fc.oneof(
    value,
    likely,
    fc.tuple(likely, likely).map(
      ([one, other]): Odd => ({
        kind: "object",
        members: [one, other].flatMap((odd) => (odd.kind === "object" ? odd.members : [])),
      }),
    ),
  ),
);
