import { describe, expect, test } from "vitest";
import { judgeClaim } from "../../src/judge/claims.ts";
import { type Claim, claimText, readClaim } from "../../src/model/claim.ts";

const NOW = "2026-11-17T12:00:00.000Z";
const CLAIM: Claim = {
  ...{ task: "T0001", created: "2026-11-16T09:00:00.000Z", holder: "human:Ada", clone: "1a2b3c4d" },
  ...{
    machine: "box",
    since: "2026-11-17T11:00:00.000Z",
    until: "2026-11-17T12:30:00.000Z",
    from: undefined,
  },
};
const EXPIRED = { ...CLAIM, until: NOW };
const [over, isHuman, isOurs] = [true, true, true];

describe("who may take a task that the remote has a claim of", () => {
  test.each([
    ["nobody has it", undefined, {}, "push"],
    ["nobody has it any more", undefined, { over, isHuman }, "push"],
    ["this clone has it", CLAIM, { isOurs }, "renew"],
    ["this clone has it, and it has expired", EXPIRED, { isOurs }, "renew"],
    ["another clone has it", CLAIM, { isHuman }, "task_claimed"],
    ["another clone has it: an agent", CLAIM, { over }, "task_claimed"],
    ["another clone has it: a human who says so", CLAIM, { over, isHuman }, "take over"],
    ["another clone had it", EXPIRED, { isHuman }, "task_claimed"],
    ["another clone had it: an agent that says so", EXPIRED, { over }, "take over"],
    ["what is there cannot be read", "garbage", { isHuman }, "task_claimed"],
    ["what is there cannot be read: an agent", "garbage", { over }, "task_claimed"],
    ["what is there cannot be read: a human who says so", "garbage", { over, isHuman }, "take over"],
    ["it is of another task of this id", { ...CLAIM, created: NOW }, { over, isHuman }, "id_taken_twice"],
    ["it is of another task of this id, and ours", { ...CLAIM, created: NOW }, { isOurs }, "id_taken_twice"],
  ])("%s", (_, claim, who, wanted) => {
    const decision = judgeClaim({
      ...{ task: "T0001", created: CLAIM.created, now: NOW, over: false, isHuman: false, isOurs: false },
      ...who,
      found:
        claim === undefined
          ? undefined
          : {
              task: "T0001",
              commit: "c1",
              claim: readClaim("T0001", typeof claim === "string" ? claim : claimText(claim)),
            },
    });
    const answer =
      decision.do === "refuse"
        ? decision.failure.code
        : decision.since !== undefined
          ? "renew"
          : decision.from !== undefined
            ? "take over"
            : "push";
    expect(answer).toBe(wanted);
    // What was there is what the remote compares with: nobody is overwritten unseen.
    if (decision.do === "push") expect(decision.old).toBe(claim && "c1");
  });
});

describe("what is read as a claim", () => {
  test("a claim as it was written, on one line for each field", () => {
    const odd = { ...CLAIM, holder: "human:Ada\nuntil: 9999-01-01T00:00:00Z", from: "human:Ben on a\tb" };
    expect(readClaim("T0001", claimText(odd))).toEqual({
      ...CLAIM,
      holder: "human:Ada until: 9999-01-01T00:00:00Z",
      from: "human:Ben on a b",
    });
  });

  test.each([
    ["nothing", ""],
    ["another task", claimText({ ...CLAIM, task: "T0002" })],
    ["a field is missing", claimText(CLAIM).replace(/^machine: .*\n/m, "")],
    ["a time is none", claimText(CLAIM).replace(/^until: .*$/m, "until: tomorrow")],
    ["a field that nobody can read", claimText(CLAIM).replace(/^holder: .*$/m, `holder: ${"x".repeat(300)}`)],
  ])("not %s", (_, text) => {
    expect(readClaim("T0001", text)).toBeUndefined();
  });
});
