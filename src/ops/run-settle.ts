import * as z from "zod/mini";
import { checkTask } from "../flows/check/check-task.ts";
import { callingManager } from "../flows/run/run-caller.ts";
import { chooseRun } from "../flows/run/run-choose.ts";
import { storedRun } from "../flows/run/run-records.ts";
import { change } from "../judge/change.ts";
import { isUnread } from "../judge/mail.ts";
import { leftOf, settlementOf } from "../judge/runs/children.ts";
import { openAttempt } from "../judge/runs/standing.ts";
import { humanOnly, isHuman, isShownHuman } from "../model/actor.ts";
import { Failure } from "../model/failure.ts";
import { taskOf } from "../model/ids.ts";
import { choice, line, prose } from "../model/input.ts";
import { SETTLEMENTS } from "../model/records/attempt.ts";
import { message, review } from "../model/records/parts.ts";
import { type Run, run } from "../model/records/run.ts";
import { firstLine } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { procedure } from "./operation.ts";

export const runSettle = procedure({
  id: "run.settle",
  summary: "Accept, retry or abandon a run that has ended",
  details:
    "For the manager that started the run, and for humans. accept is refused while the close gate has a reason that\nits author or a reviewer must settle or, for a reviewer's run, while there is no verdict. retry is a promise\nto resume it or to start another run of its task. A judgement of one attempt stays; another attempt is settled\nseparately.",
  examples: ['pawl run settle T0002/R1 abandon "The format is not ours to change"'],
  access: "write",
  cli: { positional: ["run", "outcome", "why"] },
  input: z.strictObject({
    run: line("the run", "R", 40),
    outcome: choice(SETTLEMENTS, "your judgement"),
    why: prose("why"),
  }),

  async rehearse(hands, input) {
    const value = await expectSettleable(hands, input);
    return [{ do: input.outcome, path: value.id }];
  },

  async perform(hands, input) {
    const { id } = await expectSettleable(hands, input);
    const plan = await hands.record((reader, at) => record(reader, at, id, input), {
      milestone: `${id}: ${input.outcome}`,
    });
    const { words, command } = leftOf(plan.data.run);
    return { ...plan, next: { command, reason: words } };
  },

  text: ({ run: value }, style) => {
    const said = settlementOf(value);
    return `${style.bold(value.id)} ${leftOf(value).words}: ${firstLine(said?.why ?? "")}`;
  },
});

interface Wanted {
  run: string;
  outcome: (typeof SETTLEMENTS)[number];
  why: string;
}

function record(reader: Reader, at: Situation, id: string, input: Wanted): Plan<{ run: Run }> {
  const stored = storedRun(reader, id);
  const { settled, attempts } = stored.value;
  if (openAttempt(stored.value)) throw stillOpen(stored.value);
  const entry = {
    attempt: attempts.at(-1)?.number ?? 0,
    outcome: input.outcome,
    by: at.actor,
    at: at.now,
    why: input.why,
  };
  const { effect, value } = change(run, stored, { settled: [...settled, entry] }, at, input.outcome);
  return { data: { run: value }, effects: [effect] };
}

async function expectSettleable(hands: Hands, input: Wanted): Promise<Run> {
  const value = await hands.look((reader, at) => chooseRun(reader, input.run, at));
  const manager = await callingManager(hands);
  const at = await hands.situation("write");
  if (!manager && isHuman(at.actor) && !isShownHuman(at)) throw humanOnly(`settle ${value.id}`, at);
  if (manager ? value.parent !== manager.id : !isShownHuman(at))
    throw new Failure("refused", "not_your_run", `${value.id} is not yours to settle.`, {
      hint: "Only the manager that started it or a human can settle it.",
      details: { run: value.id, parent: value.parent },
    });
  if (value.attempts.length === 0 || openAttempt(value)) throw stillOpen(value);
  if (manager) await expectRead(hands, value, manager.id);
  if (input.outcome === "accept") await expectAcceptable(hands, value);
  return value;
}

const stillOpen = (value: Run) =>
  new Failure("refused", "run_open", `${value.id} has not ended.`, {
    hint: `pawl run wait ${value.id}`,
    details: { run: value.id },
  });

/** Refuses to settle a run whose report has not been read. */
async function expectRead(hands: Hands, { id }: Run, manager: string): Promise<void> {
  const report = await hands.look((reader) =>
    reader
      .parts(message, taskOf(manager))
      .records.map((one) => one.value)
      .findLast((one) => one.report && one.run === id && isUnread(one)),
  );
  if (!report) return;
  throw new Failure(
    "refused",
    "report_unread",
    `${report.id} reports how ${id} ended, and you have not read it.`,
    {
      hint: `pawl mail ack ${report.id}`,
      details: { message: report.id },
    },
  );
}

/** Refuses to accept what the next gate would refuse, apart from reasons that only a human can settle. */
async function expectAcceptable(hands: Hands, value: Run): Promise<void> {
  const task = taskOf(value.id);
  if (value.role === "reviewer") {
    const begun = value.attempts[0]?.begun ?? "";
    const judged = await hands.look((reader) =>
      reader
        .parts(review, task)
        .records.some(({ value: one }) => one.actor === value.holder && one.created >= begun),
    );
    if (judged) return;
    throw notAcceptable(value.id, `${value.id} left no verdict.`, `pawl run resume ${value.id}`, [
      "no_result",
    ]);
  }
  const { reasons } = await checkTask(hands, task, "close");
  const open = reasons.filter((one) => one.owner !== "human");
  const [first] = open;
  if (first)
    throw notAcceptable(
      value.id,
      `${task} is not ready to be approved: ${open.map((one) => one.code).join(", ")}.`,
      `${first.owner}: ${first.command}`,
      open.map((one) => one.code),
    );
}

const notAcceptable = (id: string, message: string, hint: string, codes: string[]) =>
  new Failure("refused", "not_acceptable", message, { hint, details: { run: id, reasons: codes } });
