import { describe, expect } from "vitest";
import { expectContained, stateTip, stateTree, test } from "../helpers/two-clones.ts";

test("two clones that both made records have the same state after syncing, and one history", async ({ clones }) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "From Ada");
  await ben.pawl("note", "add", "From Ben");
  let r = await ada.pawl("sync"); console.log(r.out, r.err);
  r = await ben.pawl("sync"); console.log(r.out, r.err);
  r = await ada.pawl("sync"); console.log(r.out, r.err);
  r = await ada.pawl("sync"); console.log(r.out, r.err);
  r = await ben.pawl("sync"); console.log(r.out, r.err);
  console.log(clones.remoteGit("log", "--graph", "--format=%s", "pawl/state"));
  console.log(clones.remoteGit("ls-tree", "-r", "--name-only", "pawl/state"));
  console.log((await ben.pawl("task", "list")).out);
  expect(stateTip(ada)).toBe(stateTip(ben));
});
