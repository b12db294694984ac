import { describe, expect, test } from "vitest";
import { keywordsOf, mentionsIn, stemOf, wordsOf } from "../../src/judge/context/keywords.ts";
import { type Candidate, relate, type Subject } from "../../src/judge/context/relate.ts";
import { aFinding, aHandoff, aTask, facts } from "../helpers/context-facts.ts";

const subject = (more: Partial<Subject> = {}): Subject => ({
  ...{
    id: "T0001",
    keywords: [],
    files: [],
    labels: [],
    dependsOn: [],
    mentions: new Set<string>(),
  },
  ...more,
});

let next = 0;
const record = (id: string, more: Partial<Candidate> = {}): Candidate => ({
  ...{
    id,
    kind: "decision",
    task: id.split("/")[0],
    title: id,
    detail: "",
    text: "",
    mentions: new Set<string>(),
  },
  ...{
    files: [],
    labels: [],
    efforts: [],
    dependsOn: [],
    status: undefined,
    updated: `2026-01-01T00:00:${String(next++ % 60).padStart(2, "0")}Z`,
  },
  ...more,
});

function ranked(
  about: Subject,
  candidates: Candidate[],
  likeness: Record<string, number> = {},
  labels: Record<string, number> = {},
) {
  return relate(about, {
    ...{
      candidates,
      likeness: new Map(Object.entries(likeness)),
      labelCounts: new Map(Object.entries(labels)),
    },
    labelled: 50,
  });
}

describe("links", () => {
  test.each([
    [
      "the task it depends on",
      { dependsOn: ["T0002"] },
      record("T0002", { kind: "task" }),
      "T0001 depends on this",
    ],
    [
      "a task that waits for it",
      {},
      record("T0002", { kind: "task", dependsOn: ["T0001"] }),
      "it depends on T0001",
    ],
    ["a record it mentions", { mentions: new Set(["T0002/D3"]) }, record("T0002/D3"), "T0001 mentions it"],
    [
      "a note it mentions",
      { mentions: new Set(["N0004"]) },
      record("N0004", { kind: "note", task: undefined }),
      "T0001 mentions it",
    ],
    [
      "a record that mentions it",
      {},
      record("T0002/D3", { mentions: new Set(["T0001"]) }),
      "it mentions T0001",
    ],
    [
      "a record that mentions a part of it",
      {},
      record("T0002/D3", { mentions: new Set(["T0001/F1"]) }),
      "it mentions T0001",
    ],
  ] as [string, Partial<Subject>, Candidate, string][])("%s", (_name, about, candidate, why) => {
    expect(ranked(subject(about), [candidate])).toMatchObject([{ id: candidate.id, why }]);
  });

  test("an id that only begins like the task's is not a mention of it", () => {
    expect(ranked(subject(), [record("T0002/D3", { mentions: new Set(["T00011"]) })])).toEqual([]);
  });

  test("a link outranks the same file, and the same file outranks the same words", () => {
    const about = subject({
      dependsOn: ["T0002"],
      files: ["src/a.ts"],
      keywords: ["retry", "failed", "uploads", "backoff", "jitter", "connection"],
    });
    const order = ranked(
      about,
      [
        record("T0004/D1", { text: "retry" }),
        record("T0003/D1", { files: ["src/a.ts"] }),
        record("T0002", { kind: "task" }),
      ],
      { "T0004/D1": 0.2 },
    );
    expect(order.map((one) => one.id)).toEqual(["T0002", "T0003/D1", "T0004/D1"]);
  });
});

describe("files", () => {
  const about = subject({ files: ["package.json", "src/upload.ts"] });
  const everybody = Array.from({ length: 30 }, (_, index) =>
    record(`T${String(index + 100).padStart(4, "0")}/D1`, { files: ["package.json"] }),
  );

  test("one that few have to do with counts, one that everybody changes does not", () => {
    const found = ranked(about, [...everybody, record("T0002/D1", { files: ["src/upload.ts"] })]);
    expect(found.map((one) => one.id)).toEqual(["T0002/D1"]);
    expect(found[0]?.why).toBe("same file src/upload.ts");
  });

  test("the rarest is the one that is named, and common ones are not counted with it", () => {
    const files = ["package.json", "src/retry.ts", "src/upload.ts"];
    const all = [
      ...everybody,
      record("T0002/D1", { files }),
      record("T0003/D1", { files: ["src/upload.ts"] }),
    ];
    expect(ranked(subject({ files }), all)[0]?.why).toBe("same file src/retry.ts and 1 more");
  });
});

describe("words", () => {
  const about = subject({ keywords: ["retry", "backoff", "upload"] });

  test("are named, the rare ones first", () => {
    const candidates = [
      record("T0002/D1", { text: "Retries with backoff for each upload" }),
      record("T0003/D1", { text: "Upload in chunks" }),
      record("T0004/D1", { text: "Upload at night" }),
    ];
    const [first] = ranked(about, candidates, { "T0002/D1": 0.5, "T0003/D1": 0.1, "T0004/D1": 0.1 });
    expect(first).toMatchObject({ id: "T0002/D1", why: "about: retry, backoff, upload" });
  });

  test("do not count where search found nothing", () => {
    expect(ranked(about, [record("T0002/D1", { text: "retry backoff upload" })])).toEqual([]);
  });
});

test("a rare label says more than one that half of the tasks have", () => {
  const about = subject({ labels: ["bug", "windows"] });
  const note = (id: string, label: string) => record(id, { kind: "note", task: undefined, labels: [label] });
  const found = ranked(about, [note("N0001", "bug"), note("N0002", "windows")], {}, { bug: 25, windows: 2 });
  expect(found.map((one) => [one.id, one.why])).toEqual([["N0002", "label windows"]]);
});

test("equals are ordered by the latest change", () => {
  const about = subject({ files: ["src/a.ts"] });
  const at = (id: string, updated: string) => record(id, { files: ["src/a.ts"], updated });
  const found = ranked(about, [
    at("T0002/D1", "2026-01-01"),
    at("T0004/D1", "2026-03-01"),
    at("T0003/D1", "2026-02-01"),
  ]);
  expect(found.map((one) => one.id)).toEqual(["T0004/D1", "T0003/D1", "T0002/D1"]);
});

test("one task cannot fill the list while others have as much to say", () => {
  const about = subject({ files: ["src/a.ts"] });
  const of = (task: string) =>
    [1, 2, 3, 4].map((number) => record(`${task}/D${number}`, { files: ["src/a.ts"] }));
  const top = ranked(about, [...of("T0002"), ...of("T0003")])
    .slice(0, 4)
    .map((one) => one.task);
  expect(top.filter((task) => task === "T0002")).toHaveLength(2);
});

describe("words of a task", () => {
  test("title, objective, current work and plan, without the words everybody uses", () => {
    const { own } = facts({
      task: aTask({
        title: "Retry the failed uploads",
        labels: ["network"],
        objective: "They survive",
        plan: "jitter\njitter",
      }),
      findings: [
        aFinding(1, { text: "Ignores Retry-After" }),
        aFinding(2, { text: "Settled", status: "fixed" }),
      ],
      handoffs: [aHandoff(1, { next: "Old step" }), aHandoff(2, { next: "Parse dates" })],
    });
    expect(keywordsOf(own)).toEqual([
      "retry",
      "failed",
      "uploads",
      "survive",
      "ignores",
      "retry-after",
      "parse",
      "dates",
      "jitter",
    ]);
  });

  test("10 kB of them are not all asked for", () => {
    const words = Array.from({ length: 2_000 }, (_, index) => `word${index}`).join(" ");
    expect(keywordsOf(facts({ task: aTask({ title: words }) }).own)).toHaveLength(24);
  });

  test.each([
    ["uploads", "upload"],
    ["retries", "retry"],
    ["compacted", "compacting"],
    ["clocks", "clock"],
  ])("%s and %s are the same word", (one, other) => expect(stemOf(one)).toBe(stemOf(other)));

  test("ids and numbers", () => {
    expect(mentionsIn("As T0012/D3 and T0007 say, see N0004; not XT0001 or T12")).toEqual(
      new Set(["T0012/D3", "T0007", "N0004"]),
    );
    expect(wordsOf("Part 2 of 12: naïve files")).toEqual(["part", "naïve", "files"]);
  });
});
