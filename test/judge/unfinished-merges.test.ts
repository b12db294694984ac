import { expect, test } from "vitest";
import { mergedHere } from "../../src/judge/unfinished-merges.ts";
import type { Reader } from "../../src/ports/ports.ts";

test("a merged task whose worktree is here is found below many that colleagues merged", () => {
  const tasks = Array.from({ length: 30 }, (_, index) => ({ id: `T00${index + 10}`, status: "merged" }));
  const runOf = (id: string) => ({
    role: "author",
    mode: "single",
    clone: id === "T0010" ? "here" : "elsewhere",
    repos: [{ worktree: `.worktrees/${id}` }],
  });
  const reader = {
    tasks: () => ({ tasks }),
    parts: (_: unknown, id: string) => ({ records: [{ value: runOf(id) }] }),
  } as unknown as Reader;
  const found = mergedHere(reader, { clone: "here", bound: undefined });
  expect(found.map((one) => one.id)).toEqual(["T0010"]);
});
