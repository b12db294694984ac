import { describe, expect, test } from "vitest";
import { mergeLogs, mergeRecord } from "../../src/judge/sync/merge-record.ts";
import { parseRecord } from "../../src/model/record.ts";
import { recordOfPath } from "../../src/model/records/kind-of-path.ts";
import { approval, repository, run } from "../../src/model/records/run.ts";
import { task } from "../../src/model/records/task.ts";

const PATH = "tasks/T0001/task.md";
const BASE = `---
id: T0001
title: Title
status: open
profile: standard
labels: [one]
rev: 1
actor: "human:Ada"
created: "2026-11-16T09:30:00.000Z"
updated: "2026-11-16T09:30:00.000Z"
---

## Objective

Do it

## Plan

First this
`;

const parse = (text: string) => parseRecord(task, PATH, text, undefined);
const edit = (...changes: [string, string][]) =>
  changes.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, BASE);
const merge = (ours: string, theirs: string, base: string | null = BASE) =>
  mergeRecord(task, {
    base: base === null ? undefined : parse(base),
    ours: parse(ours),
    theirs: parse(theirs),
  });
const LATER = ['09:30:00.000Z"\n---', '10:00:00.000Z"\n---'] as [string, string];

test("what both wrote alike is no conflict, of any kind of record: the first of them stands", () => {
  const APPROVAL = edit(["status: open", "status: review"], ["rev: 1", "rev: 2"]);
  const [early, late] = [APPROVAL, APPROVAL.replace(...LATER)];
  const none = { fields: {}, sections: {} };
  for (const [ours, theirs] of [
    [early, late],
    [late, early],
  ] as [string, string][]) {
    // A kind whose records are not brought together field by field.
    const whole = mergeRecord({ ...task, ...none }, {
      base: parse(BASE),
      ours: parse(ours),
      theirs: parse(theirs),
    } as never);
    expect(whole).toEqual({ text: early, rev: 2 });
  }
});

describe("different fields are merged, whichever side is ours", () => {
  const one = edit(["title: Title", "title: Better"], ["rev: 1", "rev: 4"], LATER);
  const other = edit(["Do it", "Do it well"], ["labels: [one]", "labels: [one, two]"], ["rev: 1", "rev: 2"]);
  for (const [ours, theirs] of [
    [one, other],
    [other, one],
  ] as const)
    test(ours === one ? "one way" : "and the other", () => {
      const merged = merge(ours, theirs);
      expect(merged).toMatchObject({ rev: 5 });
      expect(parse((merged as { text: string }).text).value).toMatchObject({
        ...{ title: "Better", objective: "Do it well", labels: ["one", "two"], plan: "First this" },
        ...{ rev: 5, updated: "2026-11-16T10:00:00.000Z" },
      });
    });
});

test("a field that both changed differently is a clash, and nothing else is", () => {
  const merged = merge(
    edit(["title: Title", "title: A"]),
    edit(["title: Title", "title: B"], ["Do it", "Done"]),
  );
  expect(merged).toEqual({ clashes: [{ field: "title", ours: "A", theirs: "B" }] });
});

test("the same change on both sides is no clash", () => {
  expect(
    merge(edit(["title: Title", "title: A"]), edit(["title: Title", "title: A"], ["Do it", "Done"])),
  ).toMatchObject({
    rev: 2,
  });
});

test("a label that one side took away while the other added one is a clash", () => {
  const merged = merge(edit(["[one]", "[two]"]), edit(["[one]", "[one, three]"]));
  expect(merged).toMatchObject({ clashes: [{ field: "labels" }] });
});

test("remarks that one side wrote between the fields survive; remarks on both sides are a clash", () => {
  const remark = edit(["title: Title", "# mine\ntitle: Title"], ["## Plan", "## Ideas\n\nMaybe\n\n## Plan"]);
  const fields = edit(["Do it", "Done"]);
  for (const merged of [merge(remark, fields), merge(fields, remark)]) {
    const { text } = merged as { text: string };
    expect(text).toContain("# mine\n");
    expect(text).toContain("## Ideas\n\nMaybe\n");
    expect(text).toContain("Done");
  }
  expect(merge(remark, edit(["title: Title", "# yours\ntitle: Title"]))).toHaveProperty("clashes");
});

test("without a common text everything that differs is a clash", () => {
  expect(merge(BASE, edit(["title: Title", "title: B"]), null)).toMatchObject({
    clashes: [{ field: "title" }],
  });
});

test("two machines that wrote down the same repository agree on the earlier record", () => {
  const text = (created: string, base: string) =>
    `---\nid: web\nbase_branch: ${base}\nrev: 1\nactor: "human:Ada"\ncreated: "${created}"\nupdated: "${created}"\n---\n`;
  const [early, late] = ["2026-11-16T09:30:00.000Z", "2026-11-17T09:30:00.000Z"];
  const parsed = (one: string) => parseRecord(repository, "repos/web.md", one, undefined);
  const both = (a: string, b: string) =>
    mergeRecord(repository, { base: undefined, ours: parsed(a), theirs: parsed(b) });
  expect(both(text(late, "main"), text(early, "main"))).toMatchObject({ text: text(early, "main") });
  expect(both(text(early, "main"), text(late, "main"))).toMatchObject({ text: text(early, "main") });
  expect(both(text(early, "main"), text(late, "dev"))).toHaveProperty("clashes");
});

test("an approval is never put together from two", () => {
  const text = (status: string, how: string) =>
    `---\nid: T0001/A1\nstatus: ${status}\nhow: ${how}\nreceipt: "${"0".repeat(64)}"\nrev: 1\nactor: "human:Ada"\ncreated: "2026-11-16T09:30:00.000Z"\nupdated: "2026-11-16T09:30:00.000Z"\n---\n`;
  const parsed = (one: string) => parseRecord(approval, "tasks/T0001/approvals/A1.md", one, undefined);
  const merged = mergeRecord(approval, {
    base: parsed(text("prepared", "typed")),
    ours: parsed(text("merged", "typed")),
    theirs: parsed(text("prepared", "clicked")),
  });
  expect(merged).toHaveProperty("clashes");
});

describe("a run is never put together from two, but for the end that another clone gave it", () => {
  const RUN = `---
id: T0001/R1
status: running
clone: 1a2b3c4d
holder: "human:Ada"
rev: 1
actor: "human:Ada"
created: "2026-11-16T09:30:00.000Z"
updated: "2026-11-16T09:30:00.000Z"
---
`;
  const HANDED = "rev: 2\nended: kept\nreason: taken over";
  const at = (text: string) => parseRecord(run, "tasks/T0001/runs/R1/run.md", text, undefined);
  test.each([
    ["it was taken over while its holder went on", "status: succeeded", HANDED, "merged"],
    ["its holder ended it as well", "status: succeeded\nended: removed", HANDED, "clash"],
    ["whoever took it over wrote more", "status: succeeded", `${HANDED}\nagent: codex`, "clash"],
    ["nobody took it over", "status: succeeded", "rev: 2\nagent: codex", "clash"],
  ])("%s", (_, ours, theirs, wanted) => {
    const [a, b] = [at(RUN.replace("status: running", ours)), at(RUN.replace("rev: 1", theirs))];
    for (const sides of [
      { ours: a, theirs: b },
      { ours: b, theirs: a },
    ]) {
      const merged = mergeRecord(run, { base: at(RUN), ...sides });
      expect("text" in merged ? "merged" : "clash").toBe(wanted);
      if ("text" in merged)
        expect(at(merged.text).value).toMatchObject({
          ...{ status: "succeeded", ended: "kept", reason: "taken over", rev: 3 },
        });
    }
  });
});

test("event logs grow and never lose a line", () => {
  expect(mergeLogs("\na\n\nb\n", "\na\n")).toBe("\na\n\nb\n");
  expect(mergeLogs("\na\n", "\na\n\nb\n")).toBe("\na\n\nb\n");
  expect(mergeLogs("\na\n\nb\n", "\na\n\nc\n")).toBe("\na\n\nb\n\nc\n");
});

test("a file is known by the record that it belongs to", () => {
  expect(
    [
      PATH,
      "tasks/T0001/runs/R1/web.patch",
      "tasks/T0001/findings/F2.md",
      "notes/N0003.md",
      "repos/web.md",
    ].map(recordOfPath),
  ).toEqual(["T0001", "T0001/R1", "T0001/F2", "N0003", "repos/web"]);
});
