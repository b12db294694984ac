// @module-tag again
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Failure } from "../../src/model/failure.ts";
import { fullYaml } from "../../src/model/markdown/full-yaml.ts";
import { editRecord, NeedsFullYaml, parseRecord, printRecord } from "../../src/model/record.ts";
import { type Task, task } from "../../src/model/records/task.ts";
import { runs } from "../helpers/long-runs.ts";

const sample: Task = {
  id: "T0001",
  title: "Make it faster",
  status: "open",
  profile: "standard",
  base_branch: "main",
  repos: ["project"],
  labels: ["bug", "speed"],
  depends_on: [],
  parent: undefined,
  blocker: undefined,
  next: ["measure first"],
  archived: false,
  plan_digest: undefined,
  plan_by: undefined,
  slices: [],
  rev: 1,
  actor: "human:Ada",
  created: "2026-11-16T09:30:00.000Z",
  updated: "2026-11-16T09:30:00.000Z",
  repo: "project",
  branch: undefined,
  commit: "1234e567".repeat(5),
  objective: "Everything under a second.",
  plan: "",
  acceptance: "",
  notes: "",
};

const parse = (text: string) => parseRecord(task, "tasks/T0001/task.md", text, fullYaml);

test("what is printed is read back, shas and dates as the text they are", () => {
  expect(parse(printRecord(task, sample)).value).toEqual(sample);
});

test("a key that was emptied by hand means the same as one that is not there", () => {
  const text = printRecord(task, { ...sample, blocker: "the build" });
  const emptied = text
    .replace("blocker: the build", "blocker:")
    .replace(/labels:\n(?: {2}- .*\n)+/, "labels:\n");
  expect(emptied).not.toBe(text);
  expect(parse(emptied).value).toEqual({ ...sample, labels: [] });
});

test("any title and any text come back exactly", () => {
  const words = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 200 })
    .filter((text) => !/\p{Surrogate}/u.test(text));
  fc.assert(
    fc.property(words, words, fc.array(words, { maxLength: 3 }), (title, objective, next) => {
      const plain = objective.replaceAll("\r", "");
      const value = { ...sample, title, objective: plain, next };
      expect(parse(printRecord(task, value)).value).toEqual(value);
    }),
    runs(1500),
  );
});

const HAND_EDITED = `---
# Ada: please keep this comment
id: T0001
title: 'Make it "faster"'   # a working title
status: open
profile: standard
labels: [bug,   speed]
created: 2026-11-16T09:30:00.000Z
updated: 2026-11-16T09:30:00.000Z

rev: 7
actor: human:Ada
slices:
  - id: S1
    title: Parse
    status: open   # nearly there
---
Some words of mine before everything.

## Objective
short

## My own section
* with its own list

## Plan
old plan
`;

/** The same in the fewest words, all in one place. */
const INLINE =
  "id: T0001, title: x, status: open, profile: standard, created: 2026-11-16T09:30:00.000Z, updated: 2026-11-16T09:30:00.000Z, rev: 7, actor: human:Ada";

describe("a record edited by hand", () => {
  const stored = parse(HAND_EDITED);

  test("is read, with the full parser only where it is needed", () => {
    expect(stored.value.title).toBe('Make it "faster"');
    expect(stored.value.labels).toEqual(["bug", "speed"]);
    expect(() => parseRecord(task, "x", "---\nid: |\n  T0001\n---\n", undefined)).toThrow(NeedsFullYaml);
  });

  test("round-trips byte for byte except for the fields that were changed", () => {
    const edited = editRecord(task, stored, { status: "active", rev: 8, plan: "new plan" });
    const expected = HAND_EDITED.replace("status: open\nprofile", "status: active\nprofile")
      .replace("rev: 7", "rev: 8")
      .replace("## Plan\nold plan\n", "## Plan\n\nnew plan\n");
    expect(edited).toBe(expected);
  });

  test("an edit of nothing changes nothing", () => {
    expect(editRecord(task, stored, {})).toBe(HAND_EDITED);
    expect(editRecord(task, stored, { status: "open", rev: 7, plan: "old plan" })).toBe(HAND_EDITED);
  });

  test("a slice is changed in its own line", () => {
    const [slice] = stored.value.slices;
    if (!slice) throw new Error("the sample has a slice");
    const edited = editRecord(task, stored, { slices: [{ ...slice, title: "Parse it all" }] });
    expect(edited).toBe(HAND_EDITED.replace("title: Parse\n", "title: Parse it all\n"));
  });

  test("CRLF, a byte order mark and a missing last newline survive", () => {
    const crlf = `\uFEFF${HAND_EDITED.trimEnd().replaceAll("\n", "\r\n")}`;
    const edited = editRecord(task, parse(crlf), { status: "active" });
    expect(edited).toBe(crlf.replace("status: open\r\nprofile", "status: active\r\nprofile"));
  });
});

describe("a broken record names file, key and a correct example", () => {
  const good = printRecord(task, sample);
  test.each([
    ["no header at all", "just text", /tasks\/T0001\/task\.md/, {}],
    ["executable front matter", good.replace("---", "---js"), /tasks\/T0001\/task\.md/, {}],
    ["a truncated file", good.slice(0, 60), /tasks\/T0001\/task\.md/, {}],
    ["an unknown key", good.replace("rev: 1", "rev: 1\nprio: high"), /"prio" is unknown/, { key: "prio" }],
    [
      "a wrong status",
      good.replace("status: open", "status: opne"),
      /"status" needs one of open, active/,
      { key: "status" },
    ],
    ["a missing key", good.replace("rev: 1\n", ""), /"rev" needs a value/, { key: "rev" }],
    ["a wrong number", good.replace("rev: 1", "rev: one"), /"rev" needs a whole number/, { key: "rev" }],
    ["a duplicate key", good.replace("rev: 1", "rev: 1\nrev: 2"), /not readable YAML/, {}],
    ["YAML that is none", good.replace("rev: 1", "rev: [1"), /not readable YAML/, {}],
  ])("%s", (_name, text, message, details) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: "broken_record",
        exitCode: 2,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(/./),
        details: expect.objectContaining({ file: "tasks/T0001/task.md", ...details }),
      }),
    );
  });

  test("the example of a list, of a map in one, and of a key that may be missing", () => {
    const hintOf = (line: string) => {
      try {
        parse(good.replace("rev: 1\n", `rev: 1\n${line}\n`));
      } catch (error) {
        return (error as Failure).hint;
      }
      return undefined;
    };
    expect(hintOf("depends_on: {}")).toBe("Write it like this: depends_on: [T0001]");
    expect(hintOf("slices: S1")).toMatch(/^Write it like this: slices: \[\{ id: S1, title: .*, status: open/);
    expect(hintOf("parent: [T0002]")).toBe("Write it like this: parent: T0001");
  });
});

describe("what a careless edit would damage", () => {
  const edit = (text: string, changes: Parameters<typeof editRecord<typeof task>>[2]) =>
    editRecord(task, parse(text), changes);

  test("tabs after a colon and before a comment", () => {
    const text = HAND_EDITED.replace("rev: 7", "rev:\t7\t# counted").replace(
      "status: open\nprofile",
      "status:\topen\t# why\nprofile",
    );
    const edited = edit(text, { rev: 8, status: "review" });
    expect(edited).toBe(text.replace("rev:\t7", "rev:\t8").replace("status:\topen\t", "status:\treview\t"));
  });

  test("a first-level heading ends a section and survives", () => {
    const text = `${HAND_EDITED}\n# My own part\n\nprecious\n`;
    expect(edit(text, { plan: "new" })).toContain("## Plan\n\nnew\n\n# My own part\n\nprecious\n");
  });

  test("remarks below a marked text survive", () => {
    const marked = edit(HAND_EDITED, { plan: "```sh\nmake\n```" });
    const remarked = `${marked}\nA remark of mine.\n`;
    const again = edit(remarked, { plan: "```sh\nmake all\n```" });
    expect(again).toBe(remarked.replace("make\n", "make all\n"));
    for (const plan of ["", "plain"]) {
      const later = edit(remarked, { plan });
      expect(later).toContain("A remark of mine.");
      expect(parse(later).value.plan).toBe(plan);
    }
  });

  test("a section hidden in a comment is not one", () => {
    const text = HAND_EDITED.replace("## Plan\nold plan\n", "<!--\n## Plan\nold, hidden\n-->\n");
    const edited = edit(text, { plan: "new" });
    expect(edited).toContain("<!--\n## Plan\nold, hidden\n-->\n");
    expect(parse(edited).value.plan).toBe("new");
  });

  test("comments inside a list in a style of its own are not dropped: they stay, or the edit is refused", () => {
    const flow = "slices:\n  - { id: S1, title: 'one', status: open } # keep me\n";
    const text = HAND_EDITED.replace(/slices:[\s\S]*?(?=---)/, flow);
    const [slice] = parse(text).value.slices;
    if (!slice) throw new Error("the sample has a slice");
    const refused = expect.objectContaining({
      code: "broken_record",
      exitCode: 2,
      message: expect.stringContaining("comment"),
    });
    expect(edit(text, { slices: [slice, { ...slice, id: "S2" }] })).toContain("status: open } # keep me\n");
    expect(() => edit(text, { slices: [{ ...slice, id: "S2" }] })).toThrow(refused);
  });

  test("a fence that is never closed would swallow the new text: the edit is refused", () => {
    const text = HAND_EDITED.replace("## Objective\nshort", "## Objective\n```\nshort").replace(
      /## My own[\s\S]*$/,
      "",
    );
    const refused = expect.objectContaining({ code: "broken_record", exitCode: 2 });
    expect(() => edit(text, { plan: "new" })).toThrow(refused);
  });

  test("a key in quotes keeps them", () => {
    const text = HAND_EDITED.replace("rev: 7", '"rev": 7  # counted');
    expect(edit(text, { rev: 8 })).toBe(text.replace("7  #", "8  #"));
  });

  const kept = 'blocker: |+\n  the key\n\nplan_by: "human:Ada"\n\nrev: 7';
  test.each<[string, [string | RegExp, string], Parameters<typeof edit>[1]]>([
    ["a new key after the end of a YAML document", [/\n---\nSome/, "\n...\n---\nSome"], { blocker: "x" }],
    [
      "a key between a text and blank lines that would become its own",
      ["rev: 7", kept],
      { plan_by: undefined },
    ],
    ["keys in an inline map", [/---\n[\s\S]*?\n---\n/, `---\n{${INLINE}}\n---\n`], { rev: 8 }],
  ])("%s: the edit is refused", (_, [from, to], changes) => {
    const text = HAND_EDITED.replace(from, to);
    expect(text).not.toBe(HAND_EDITED);
    const styled = parse(text);
    expect(() => editRecord(task, styled, changes)).toThrow(
      expect.objectContaining({ code: "broken_record", exitCode: 2, hint: expect.stringMatching(/./) }),
    );
  });
});
