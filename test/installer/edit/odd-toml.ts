import fc from "fast-check";

export interface OddToml {
  text: string;
  /** Whether the file leaves room for the table `mcp_servers.pawl`. */
  room: boolean;
}

const VALUES = [
  "1",
  "-0.5",
  "inf",
  "9007199254740993",
  "0xff",
  "1979-05-27T07:32:00Z",
  "07:32:00",
  "true",
  '"a # b"',
  "'c\\'",
  '"é 😀 \\u00e9"',
  '"""\nmany\nlines"""',
  "'''x'''",
  "[]",
  "[ 1, # one\n 2,\n]",
  "[[1], ['a']]",
  "{}",
  "{ a = 1, b.c = [2] }",
];
const KEYS = ["plain", "'quoted key'", '"é"', "a.b", "dash-ed", "1", '"__proto__"', "constructor"];
const COMMENTS = ["", "", " # note", "   # é 😀"];

interface Drawn {
  keys: [string, string, string][];
  gaps: string[];
}

const body = (prefix: string): fc.Arbitrary<string> =>
  fc
    .record<Drawn>({
      keys: fc.uniqueArray(
        fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), fc.constantFrom(...COMMENTS)),
        {
          maxLength: 4,
          selector: ([key]) => key,
        },
      ),
      gaps: fc.array(fc.constantFrom("", "", "\n", "# mine\n", "  \t\n"), { minLength: 4, maxLength: 4 }),
    })
    .map(({ keys, gaps }) =>
      keys
        .map(([key, value, comment], index) => `${gaps[index]}${prefix}${key} = ${value}${comment}\n`)
        .join(""),
    );

/** The states in which the servers' table may be; the first ones leave room for ours. */
const SERVERS: [boolean, "root" | "table", (inner: string, value: string) => string][] = [
  [true, "root", () => ""],
  [false, "root", (_, value) => `mcp_servers = { x = ${value} }\n`],
  [false, "root", () => "mcp_servers={}\n"],
  [false, "root", (_, value) => `mcp_servers = {x=${value},y.z={}} # here\n`],
  [true, "root", () => 'mcp_servers.x.command = "y"\n'],
  [false, "root", (_, value) => `mcp_servers = {\n  x = ${value}, # first\n  y = 1 # last\n}\n`],
  [true, "table", (inner) => `[mcp_servers]\n${inner}`],
  [true, "table", (inner) => `[mcp_servers.x]\n${inner}\n[mcp_servers.y] # note\n`],
  [true, "table", (inner) => `[ 'mcp_servers' . x ]\n${inner}[[mcp_servers.z]]\na = 1\n[[mcp_servers.z]]\n`],
  [false, "root", () => "mcp_servers = [1]\n"],
  [false, "root", () => "mcp_servers = 1\n"],
  [false, "root", () => "mcp_servers = { pawl = {} }\n"],
  [false, "table", (inner) => `[[mcp_servers]]\n${inner}`],
  [false, "table", (inner) => `[mcp_servers.pawl]\n${inner}`],
  [false, "table", (inner) => `[mcp_servers.pawl.env]\n${inner}`],
];

export const oddToml = (rooms: boolean[]): fc.Arbitrary<OddToml> =>
  fc
    .record({
      servers: fc.constantFrom(...SERVERS.filter(([room]) => rooms.includes(room))),
      root: body(""),
      inner: body(""),
      table: fc.option(body("\t")),
      list: fc.option(body("")),
      value: fc.constantFrom(...VALUES.filter((value) => !value.includes("\n"))),
      order: fc.boolean(),
      ending: fc.constantFrom("", "", "\n", "\n\n", "# end", "  "),
      crlf: fc.boolean(),
      mark: fc.boolean(),
      cut: fc.boolean(),
    })
    .map(({ servers: [room, where, print], ...drawn }) => {
      const ours = print(drawn.inner, drawn.value);
      const tables = [
        drawn.table === null ? "" : `[table]\n${drawn.table}`,
        drawn.list === null ? "" : `[[list]]\n${drawn.list}[list.inner]\nx = 1\n[[list]]\n`,
      ];
      if (where === "table") tables.splice(drawn.order ? 0 : 2, 0, ours);
      const whole = (where === "root" ? ours : "") + drawn.root + tables.join("") + drawn.ending;
      const text = drawn.cut ? whole.replace(/\n$/, "") : whole;
      return {
        room,
        text: (drawn.mark ? "\ufeff" : "") + (drawn.crlf ? text.replaceAll("\n", "\r\n") : text),
      };
    });
