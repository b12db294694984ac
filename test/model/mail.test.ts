import { expect, test } from "vitest";
import { type Addressed, isFor, type Reading } from "../../src/model/mail.ts";

const second: Reading = { task: "T0001", run: "T0001/R2" };
const nobody: Reading = { task: "T0001", run: undefined };

test.each<[what: string, mail: Addressed, reading: Reading, isIt: boolean]>([
  ["to a task, whoever works on it", { to: "T0001", run: undefined }, second, true],
  ["to a task, with no run at all", { to: "T0001", run: undefined }, nobody, true],
  ["to a lane of the task", { to: "T0001/L1", run: undefined }, second, true],
  ["to another task", { to: "T0002", run: undefined }, second, false],
  ["to a task that begins alike", { to: "T00010", run: undefined }, second, false],
  ["to this run", { to: "T0001/R2", run: undefined }, second, true],
  ["to the run before it", { to: "T0001/R1", run: undefined }, second, false],
  ["to a run that begins alike", { to: "T0001/R22", run: undefined }, second, false],
  ["to a run, read by nobody's", { to: "T0001/R2", run: undefined }, nobody, false],
  ["to the task, about this run", { to: "T0001", run: "T0001/R2" }, second, true],
  ["to the task, about the run before it", { to: "T0001", run: "T0001/R1" }, second, false],
  ["to the task, about a run, when none is under way", { to: "T0001", run: "T0001/R1" }, nobody, false],
  ["to the task, about another task's run", { to: "T0001", run: "T0002/R1" }, second, true],
  ["to this run, about a child's", { to: "T0001/R2", run: "T0002/R1" }, second, true],
  ["to the human", { to: "human", run: undefined }, second, false],
])("%s: %o", (_what, mail, reading, isIt) => {
  expect(isFor(mail, reading)).toBe(isIt);
});
