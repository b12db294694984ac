import { expect, test } from "vitest";
import { testsNothing } from "../../src/model/tests-nothing.ts";

test.for([
  [["true"]],
  [["/bin/true"]],
  [[":"]],
  [["echo", "all 12 tests passed"]],
  [["printf", "ok"]],
  [["sh", "-c", "true"]],
  [["bash", "-ec", "exit 0"]],
  [["sh", "-c", "echo ok; sleep 1 && exit 0"]],
  [["sh", "-c", ""]],
  [["env", "CI=1", "true"]],
  [["env", "-i", "sh", "-c", "A=b :"]],
  [["nice", "-n", "5", "true"]],
  [["busybox", "true"]],
] as [string[]][])("%j tests nothing", ([argv]) => {
  expect(testsNothing(argv)).toBe(true);
});

test.for([
  [["npm", "test"]],
  [["test", "-f", "done"]],
  [["false"]],
  [["sh", "-c", "echo begin; npm test"]],
  [["sh", "-c", "exit $(node t.js)"]],
  [["node", "-e", "0"]],
  [["env", "npm", "test"]],
  [["sh", "run-tests.sh"]],
  [["./true/run"]],
  [[""]],
] as [string[]][])("%j may be a test", ([argv]) => {
  expect(testsNothing(argv)).toBe(false);
});
