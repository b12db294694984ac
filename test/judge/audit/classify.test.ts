import { describe, expect, test } from "vitest";
import { baselineOf, type Ledger, mergesOf } from "../../../src/flows/audit/ledger.ts";
import { afterBaseline } from "../../../src/flows/audit/one-baseline.ts";
import { movesWithin } from "../../../src/flows/audit/unlocks.ts";
import { explain, refine } from "../../../src/judge/audit/classify.ts";
import { judgeBranch } from "../../../src/judge/audit/judge.ts";
import type {
  ApprovedMerge,
  BranchAudit,
  CommitFact,
  Known,
  MoveFact,
  RemoteFact,
  RemoteWord,
} from "../../../src/ports/audit-facts.ts";

const id = (letter: string) => letter.repeat(40);
const REF = "refs/heads/main";

const commit = (change: Partial<CommitFact> = {}): CommitFact => ({
  id: id("m"),
  parents: [id("b"), id("h")],
  tree: id("t"),
  time: "2026-11-16T10:00:00.000Z",
  author: "Ada",
  subject: "Merge T0001",
  names: ["T0001/A1"],
  ...change,
});

const merge = (change: Partial<ApprovedMerge> = {}): ApprovedMerge => ({
  id: "T0001/A1",
  status: "merged",
  ref: REF,
  old: id("b"),
  new: id("m"),
  head: id("h"),
  tree: id("t"),
  style: "merge",
  again: false,
  onto: undefined,
  pushed: false,
  record: { uid: undefined, receipt: "", repos: [], signatures: [], how: "" },
  ...change,
});

const nothing: Known = {
  baseline: new Set(),
  approvals: [],
  unlocked: new Map(),
  rejected: new Map(),
  remote: new Map(),
  unapproved: new Map(),
};
const knowing = (change: Partial<Known>): Known => ({ ...nothing, ...change });

/** An approved fast-forward over two commits, and the commits. */
const [TIP, BELOW] = [
  commit({ id: id("h"), parents: [id("g")], names: [] }),
  commit({ id: id("g"), parents: [id("b")], tree: id("s"), names: [] }),
];
const forward = (change: Partial<ApprovedMerge> = {}) =>
  merge({ style: "ff", new: id("h"), brought: [TIP, BELOW], ...change });

describe("each style of an approval", () => {
  const squash = merge({ style: "squash" });
  const { brought: _, ...crooked } = forward();
  test.each<[string, CommitFact, ApprovedMerge, string]>([
    ["a squash: one parent, the checked tree", commit({ parents: [id("b")] }), squash, "approved"],
    ["a merge that was said to be a squash", commit(), squash, "unexplained"],
    ["a squash with other content", commit({ parents: [id("b")], tree: id("x") }), squash, "unexplained"],
    ["a squash on another base", commit({ parents: [id("x")] }), squash, "unexplained"],
    ["a squash that names no approval", commit({ parents: [id("b")], names: [] }), squash, "unexplained"],
    ["a fast-forward's tip", TIP, forward(), "approved"],
    ["what it brought along", BELOW, forward(), "approved"],
    ["what it did not bring", commit({ id: id("x"), names: [] }), forward(), "unexplained"],
    ["a tip that is not the checked commit", TIP, forward({ head: id("x") }), "unexplained"],
    ["below a tip that is not the checked commit", BELOW, forward({ head: id("x") }), "unexplained"],
    ["a tip with other content than was checked", TIP, forward({ tree: id("x") }), "unexplained"],
    ["a line that does not begin at the base", TIP, crooked, "unexplained"],
    ["below a tip that was taken back", BELOW, forward({ status: "rolled_back" }), "unexplained"],
    ["below a tip that nobody signed", BELOW, forward({ distrust: "it is not signed" }), "unexplained"],
    ["a fast-forward that was made again", TIP, forward({ again: true }), "unexplained"],
  ])("%s", (_name, found, approval, wanted) => {
    expect(explain([found], knowing({ approvals: [approval] })).map((one) => one.class)).toEqual([wanted]);
  });
});

describe("one commit, one class", () => {
  const fits = knowing({ approvals: [merge()] });
  test.each<[string, CommitFact, Known, string, string | undefined]>([
    ["nothing is known of it", commit({ names: [] }), nothing, "unexplained", "no_approval"],
    ["there before", commit(), knowing({ baseline: new Set([id("m")]) }), "baseline", undefined],
    ["approved", commit(), fits, "approved", undefined],
    [
      "it merges something else",
      commit({ parents: [id("b"), id("x")] }),
      fits,
      "unexplained",
      "approval_mismatch",
    ],
    ["it merges nothing", commit({ parents: [id("b")] }), fits, "unexplained", "approval_mismatch"],
    [
      "it merges more",
      commit({ parents: [id("b"), id("h"), id("x")] }),
      fits,
      "unexplained",
      "approval_mismatch",
    ],
    ["on another base", commit({ parents: [id("x"), id("h")] }), fits, "unexplained", "approval_mismatch"],
    [
      "made again, on the remote's base",
      commit({ parents: [id("x"), id("h")] }),
      knowing({ approvals: [merge({ again: true })] }),
      "approved",
      undefined,
    ],
    ["with other content", commit({ tree: id("x") }), fits, "unexplained", "approval_mismatch"],
    ["it names another approval", commit({ names: ["T0001/A2"] }), fits, "unexplained", "approval_mismatch"],
    ["it names none", commit({ names: [] }), fits, "unexplained", "approval_mismatch"],
    [
      "not merged yet",
      commit(),
      knowing({ approvals: [merge({ status: "prepared" })] }),
      "unexplained",
      "approval_unfinished",
    ],
    [
      "taken back",
      commit(),
      knowing({ approvals: [merge({ status: "rolled_back" })] }),
      "unexplained",
      "approval_unfinished",
    ],
    ["the approval is of another commit", commit({ id: id("n") }), fits, "unexplained", "approval_rewritten"],
    [
      "the approval is not known here yet, the remote has it",
      commit(),
      knowing({ remote: new Map([[id("m"), "origin"]]) }),
      "remote",
      undefined,
    ],
    [
      "unlocked",
      commit({ names: [] }),
      knowing({ unlocked: new Map([[id("m"), "U0001"]]) }),
      "unlocked",
      undefined,
    ],
    [
      "unlocked and published: who unlocked it says more",
      commit({ names: [] }),
      knowing({ unlocked: new Map([[id("m"), "U0001"]]), remote: new Map([[id("m"), "origin"]]) }),
      "unlocked",
      undefined,
    ],
    [
      "approved and published",
      commit(),
      knowing({ approvals: [merge()], remote: new Map([[id("m"), "origin"]]) }),
      "approved",
      undefined,
    ],
  ])("%s", (_name, one, known, expected, reason) => {
    const [found] = explain([one], known);
    expect([found?.class, found?.reason]).toEqual([expected, reason]);
  });
});

const move = (change: Partial<MoveFact> = {}): MoveFact => ({
  seen: "log",
  old: id("b"),
  new: id("m"),
  time: "2026-11-16T10:00:00.000Z",
  message: "commit: Sneak in",
  forward: true,
  brought: [],
  ...change,
});

const said = (word: RemoteWord): RemoteFact => ({
  name: "origin",
  tracking: "refs/remotes/origin/main",
  believed: id("m"),
  word,
});

const branch = (change: Partial<BranchAudit> = {}): BranchAudit => ({
  ref: REF,
  tip: id("m"),
  standsFor: undefined,
  commits: [],
  earlier: 2,
  moves: [],
  remotes: [],
  unlogged: false,
  doubtful: new Map(),
  late: new Set(),
  missing: [],
  ...change,
});

describe("how an unexplained commit came", () => {
  const stray = commit({ names: [] });
  test.each<[string, Partial<BranchAudit>, string]>([
    ["nothing tells", {}, "no_approval"],
    ["the log says commit", { moves: [move({ brought: [stray] })] }, "committed_directly"],
    [
      "the log says merge",
      { moves: [move({ brought: [stray], message: "merge x: Fast-forward" })] },
      "merged_directly",
    ],
    [
      "the log says pull",
      { moves: [move({ brought: [stray], message: "pull: Fast-forward" })] },
      "merged_directly",
    ],
    ["the log leaves it out", { moves: [move({ brought: [stray], seen: "tip" })] }, "written_without_git"],
    [
      "the log is another branch's",
      {
        moves: [
          move({ brought: [stray] }),
          move({ message: `Branch: copied refs/heads/x to ${REF}`, old: id("m") }),
        ],
      },
      "branch_overwritten",
    ],
    [
      "this branch was copied to another one",
      {
        moves: [
          move({ brought: [stray] }),
          move({ message: `Branch: copied ${REF} to refs/heads/x`, old: id("m") }),
        ],
      },
      "committed_directly",
    ],
    [
      "a made-up tracking ref has it",
      { doubtful: new Map([[id("m"), said("denied")]]), moves: [move({ brought: [stray] })] },
      "remote_not_confirmed",
    ],
  ])("%s", (_name, change, reason) => {
    expect(refine(explain([stray], nothing), branch(change))[0]?.reason).toBe(reason);
  });
});

describe("moves of a branch", () => {
  const stray = commit({ id: id("s"), names: [] });
  const good = commit();
  const known = knowing({ approvals: [merge()] });
  const judge = (
    moves: MoveFact[],
    change: Partial<BranchAudit> = {},
    unlockedMoves: { old: string; new: string }[] = [],
  ) => {
    const { findings, notes } = judgeBranch("shop", branch({ moves, ...change }), { known, unlockedMoves });
    return { codes: findings.map((one) => one.code), notes: notes.length };
  };

  test.each<[string, MoveFact, Partial<BranchAudit>, string[], number]>([
    ["forward to what was approved", move({ brought: [good] }), {}, [], 0],
    [
      "forward to a stray commit that is still there",
      move({ brought: [stray] }),
      { commits: [stray] },
      [],
      0,
    ],
    ["forward to a stray commit that is there no more", move({ brought: [stray] }), {}, ["moved_away"], 0],
    ["back, over commits that are all explained", move({ forward: false }), {}, ["rewound"], 0],
    ["to a commit that is gone", move({ forward: undefined }), {}, ["moved_away"], 0],
    ["a gap to something explained is worth a note", move({ seen: "gap", brought: [good] }), {}, [], 1],
    [
      "a gap to a stray commit",
      move({ seen: "gap", brought: [stray] }),
      { commits: [stray] },
      ["reflog_gap"],
      0,
    ],
    ["a tip that the log does not have", move({ seen: "tip", forward: false }), {}, ["reflog_gap"], 0],
    ["past the guard, to something explained", move({ seen: "guard", brought: [good] }), {}, [], 1],
    ["past the guard", move({ seen: "guard", forward: false }), {}, ["moved_unguarded"], 0],
  ])("%s", (_name, one, change, codes, notes) => {
    const found = judge([one], change);
    expect(found.codes).toEqual(codes);
    expect(found.notes).toBe(notes);
  });

  test("a merge made again takes the first one away, and only that exact move", () => {
    const again = merge({ id: "T0001/A2", again: true, old: id("f"), new: id("g") });
    const redone = commit({ id: id("g"), parents: [id("x"), id("h")], names: ["T0001/A2"] });
    const permitted = { known: knowing({ approvals: [merge(), again] }), unlockedMoves: [] };
    const codes = (one: MoveFact) =>
      judgeBranch("shop", branch({ moves: [one] }), permitted).findings.map((each) => each.code);
    const taken = move({ old: id("f"), new: id("g"), forward: false, brought: [redone] });
    expect(codes(taken)).toEqual([]);
    expect(codes({ ...taken, old: id("e") })).toEqual(["rewound"]);
    expect(codes({ ...taken, brought: [redone, stray] })).toEqual(["rewound"]);
  });

  test("what a human unlocked may do anything, and only that exact move", () => {
    const back = move({ forward: false });
    expect(judge([back], {}, [{ old: back.old, new: back.new }]).codes).toEqual([]);
    expect(judge([back], {}, [{ old: back.new, new: back.old }]).codes).toEqual(["rewound"]);
  });

  test("a branch that stands for another, a remote that denies, a record that contradicts its commit", () => {
    const found = judgeBranch(
      "shop",
      branch({
        standsFor: "refs/heads/x",
        remotes: [said("denied")],
        commits: [good],
        missing: [{ commit: id("m"), by: "T0001/A1", from: undefined }],
      }),
      {
        known: knowing({ approvals: [merge({ tree: id("x") })], remote: new Map([[id("m"), "origin"]]) }),
        unlockedMoves: [],
      },
    );
    expect(found.findings.map((one) => one.code)).toEqual([
      "symbolic_ref",
      "approval_mismatch",
      "remote_not_confirmed",
      "approved_missing",
    ]);
    expect(found.branch.counts).toEqual({
      ...{ baseline: 2, approved: 0, pull_request: 0, remote: 1 },
      ...{ unlocked: 0, unapproved: 0, unexplained: 0 },
    });
  });
});

describe("where explanations begin", () => {
  const made = (created: string) => ({ rev: 1, actor: "human:Ada", created, updated: created });
  const repos = (old: string) => [
    {
      name: "shop",
      ref: REF,
      old,
      new: id("m"),
      head: id("h"),
      tree: id("t"),
      diff_sha256: "0",
      pushed: false,
    },
  ];
  const approval = (name: string, created: string, old: string, redo_of?: string) =>
    ({
      id: name,
      status: "merged",
      how: "",
      receipt: "",
      repos: repos(old),
      redo_of,
      ...made(created),
    }) as never;
  const ledger = (change: Partial<Ledger>): Ledger => ({
    ...{
      approvals: [],
      unlocks: [],
      repositories: [],
      earlier: [],
      formerly: { approvals: [], unlocks: [] },
      requests: new Map(),
      problems: [],
      written: [],
      events: () => [],
      isThere: () => false,
      basis: () => ({ receipts: [], proofs: new Map() }),
    },
    ...change,
  });
  const record = (baseline: object[], name = "shop") =>
    ({ id: name, home: true, baseline, begun: [], guarded: [] }) as never;
  const shop = new Set(["shop"]);

  test("at what was recorded, by every clone, with the time of this one", () => {
    const found = baselineOf(
      ledger({
        approvals: [approval("T0001/A1", "2026-11-16T09:00:00.000Z", id("o"))],
        repositories: [
          record([
            { ref: REF, commit: id("a"), at: "2026-11-16T10:00:00.000Z", clone: "one" },
            { ref: REF, commit: id("b"), at: "2026-11-16T11:00:00.000Z", clone: "two" },
            { ref: "refs/heads/other", commit: id("c"), at: undefined, clone: undefined },
          ]),
          record([{ ref: REF, commit: id("d") }], "api"),
        ],
      }),
      shop,
      REF,
      new Set(["two"]),
    );
    expect(found).toEqual({
      commits: [id("a"), id("b")],
      begun: [],
      at: "2026-11-16T11:00:00.000Z",
      from: "recorded",
    });
  });

  test("else at the first approval of this branch, else everything was there before", () => {
    const approvals = [
      approval("T0002/A1", "2026-11-16T11:00:00.000Z", id("m")),
      approval("T0001/A1", "2026-11-16T10:00:00.000Z", id("o")),
      approval("T0003/A2", "2026-11-16T09:00:00.000Z", id("x"), "T0003/A1"),
    ];
    expect(baselineOf(ledger({ approvals }), shop, REF, new Set())).toEqual({
      commits: [id("o")],
      begun: [],
      at: "2026-11-16T10:00:00.000Z",
      from: "first approval",
    });
    expect(baselineOf(ledger({ approvals }), new Set(["api"]), REF, new Set()).from).toBe("none");
    expect(mergesOf(ledger({ approvals }), new Set(["api"]))).toEqual([]);
  });

  const entry = (old: string, fresh: string, time: string) => ({
    old: id(old),
    new: id(fresh),
    time,
    message: "",
  });
  const baseline = { commits: [id("b")], at: "2026-11-16T10:00:00.500Z", from: "recorded" } as const;
  test.each([
    ["entries that led to the baseline", [entry("a", "b", "2026-11-16T09:00:00.000Z")], 1],
    [
      "not those of the same second after it",
      [entry("a", "b", "2026-11-16T10:00:00.000Z"), entry("b", "c", "2026-11-16T10:00:00.000Z")],
      1,
    ],
    [
      "not a later return to it",
      [
        entry("a", "b", "2026-11-16T09:00:00.000Z"),
        entry("b", "c", "2026-11-16T11:00:00.000Z"),
        entry("c", "b", "2026-11-16T11:00:01.000Z"),
      ],
      1,
    ],
    [
      "nor one that is dated back",
      [
        entry("a", "b", "2026-11-16T09:00:00.000Z"),
        entry("b", "c", "2026-11-16T11:00:00.000Z"),
        entry("c", "b", "2026-11-16T09:00:00.000Z"),
      ],
      1,
    ],
    ["none of a log that never mentions it", [entry("x", "y", "2026-11-16T09:00:00.000Z")], 0],
  ])("leaves out %s", (_name, log, count) => {
    expect(afterBaseline(log, { ...baseline, commits: [...baseline.commits], begun: [] })).toBe(count);
  });
});

describe("what an unlock covers", () => {
  const at = (second: number) => `2026-11-16T10:00:${String(second).padStart(2, "0")}.000Z`;
  const entry = (old: string, fresh: string, second: number) => ({
    old: id(old),
    new: id(fresh),
    time: at(second),
    message: "",
  });
  const ref = "refs/heads/main";
  /** A clone without a guard has nothing but its log. */
  const alone = { passed: undefined, logged: undefined };
  const unlock = { ref, tip: id("b"), created: "2026-11-16T10:00:10.700Z", until: at(20) };
  const log = [
    entry("a", "b", 5),
    entry("b", "c", 10),
    entry("c", "d", 20),
    entry("d", "e", 21),
    entry("e", "f", 15),
  ];
  test("from the tip it began with to the first move after its end", () => {
    expect(movesWithin(log, unlock, alone)).toEqual([
      { old: id("b"), new: id("c") },
      { old: id("c"), new: id("d") },
    ]);
  });
  test("under a guard only what it saw, unless the log was not written after the end any more", () => {
    const passed = [{ ref, old: id("b"), new: id("c"), why: "unlocked" }];
    const seen = (logged: string | undefined, moves = passed) =>
      movesWithin(log.slice(0, 3), unlock, { passed: moves, logged }).length;
    expect([seen(at(20)), seen(at(21)), seen(undefined)]).toEqual([2, 1, 1]);
    expect(seen(at(60), [])).toBe(0);
    expect(seen(at(60), [{ ...passed[0], ref: "refs/heads/other" } as (typeof passed)[0]])).toBe(0);
    // One that nobody saw breaks the chain: whatever rests on it was not seen either.
    expect(seen(at(60), [{ ref, old: id("c"), new: id("d"), why: "unlocked" }])).toBe(0);
  });
  test("nothing when the branch was not where the record says", () => {
    expect(movesWithin(log, { ...unlock, tip: id("x") }, alone)).toEqual([]);
  });
  test("an earlier stay at the same commit does not count", () => {
    expect(
      movesWithin([entry("b", "x", 1), entry("x", "b", 2), ...log.slice(1)], unlock, alone),
    ).toHaveLength(2);
  });
  test("a branch that did not exist begins with its creation", () => {
    const created = { ...entry("0", "c", 12) };
    expect(movesWithin([created], { ...unlock, tip: undefined }, alone)).toEqual([
      { old: id("0"), new: id("c") },
    ]);
    expect(movesWithin([entry("b", "c", 12)], { ...unlock, tip: undefined }, alone)).toEqual([]);
  });
});
