import { expect, test } from "vitest";
import { mayBegin } from "../../src/files/sessions.ts";
import { parseActor } from "../../src/model/actor.ts";

test.each<[string, string, string[], boolean]>([
  ["nobody is around it", "claude-code:s", [], true],
  ["its own program and signs are", "claude-code:s", ["claude-code:s", "claude-code"], true],
  ["a run's sign without a session is", "codex:c", ["codex"], true],
  ["another session is", "claude-code:z", ["claude-code:s"], false],
  ["another agent is", "codex:z", ["claude-code"], false],
])("a session begins where %s: %j", (_name, begins, around, may) => {
  const actors = around.map((name) => parseActor(`agent:${name}`));
  expect(mayBegin(parseActor(`agent:${begins}`), actors)).toBe(may);
});
