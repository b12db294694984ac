import { expect, test } from "vitest";
import { newAttempt } from "../../../src/flows/run/run-records.ts";
import { editRecord, parseRecord, printRecord } from "../../../src/model/record.ts";
import { BY_HAND, type Run, run } from "../../../src/model/records/run.ts";
import { situation } from "../../helpers/context-facts.ts";

const PATH = "tasks/T0001/runs/R1/run.md";
const at = situation;
// As a resumed run hands it over: not in the order of the fields.
const made = { agent: "claude", model: "opus[1m]", version: "2.1.197", session: "s-1" };

const value: Run = {
  ...BY_HAND,
  ...{ id: "T0001/R1", status: "running", ended: undefined, reason: undefined, command: [], pid: undefined },
  ...{ exit_code: undefined, log: undefined, clone: "1a2b3c4d", holder: "agent:claude-code:s-1", repos: [] },
  ...{
    snapshots: [],
    refreshed: [],
    landed: [],
    restored: undefined,
    rev: 1,
    actor: "human:Ada",
    created: at.now,
    updated: at.now,
  },
  ...{ repo: undefined, branch: undefined, commit: undefined, notes: "" },
};

test("an attempt with everything known of it is added to a record, and read back the same", () => {
  const stored = parseRecord(run, PATH, printRecord(run, value), undefined);
  const attempts = [newAttempt(1, made, at), newAttempt(2, made, at)];
  const text = editRecord(run, stored, { attempts });
  expect(parseRecord(run, PATH, text, undefined).value.attempts).toEqual(attempts);
});

test("a run's record from before there were attempts is read as one by hand", () => {
  const text = printRecord(run, value);
  expect(text).not.toMatch(/attempts|role|limits/);
  expect(parseRecord(run, PATH, text, undefined).value).toMatchObject({
    attempts: [],
    role: undefined,
    tasks: [],
  });
});
