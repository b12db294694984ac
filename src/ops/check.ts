import * as z from "zod/mini";
import { checkTask } from "../flows/check/check-task.ts";
import { madeNow } from "../judge/change.ts";
import { type GateResult, type Seal, STAGES } from "../judge/gates/gate.ts";
import { getTask } from "../judge/which-task.ts";
import { choice, taskField } from "../model/input.ts";
import { receiptFile } from "../model/paths.ts";
import { editRecord, printRecord } from "../model/record.ts";
import { type Receipt, receipt } from "../model/records/run.ts";
import { plural, type Style } from "../model/text.ts";
import type { Effect, Next, Plan, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { procedure } from "./operation.ts";

export const check = procedure({
  id: "check",
  summary: "Is the task ready for this stage? If not: what is missing, who settles it, and how",
  details:
    "plan: may the work begin. review: may it be reviewed. close: may a human approve it. Passing the close stage writes a\nreceipt that is bound to the commits, the findings and the evidence; whatever changes them voids it. Exit code 0 when it\nis ready, 1 when it is not, 2 when that cannot be told.",
  examples: ["pawl check --stage close", "pawl check T0001 --stage plan --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField(), stage: choice(STAGES, "ready for what") }),

  async rehearse(hands, input) {
    const id = await hands.look((reader, at) => getTask(reader, input.task, at));
    const { seal } = await checkTask(hands, id, input.stage);
    const known = await hands.look((reader) => reader.receipt(id)?.value.digest);
    return seal && seal.digest !== known ? [{ do: "write", path: receiptFile(id) }] : [];
  },

  async perform(hands, input) {
    const id = await hands.look((reader, at) => getTask(reader, input.task, at));
    let result = await checkTask(hands, id, input.stage);
    const known = result.seal && (await hands.look((reader) => reader.receipt(id)?.value.digest));
    // A receipt is given for what git and the log say now, never for what was remembered.
    if (result.seal && result.seal.digest !== known)
      result = await checkTask(hands, id, input.stage, { fresh: true });
    const { seal } = result;
    if (seal && seal.digest !== known)
      await hands.record((reader, at) => keepReceipt(reader, id, seal, at), {
        milestone: `${id}: ready to be approved`,
      });
    return {
      data: { check: { ...result, seal: undefined, receipt: seal?.digest } },
      next: nextOf(result),
      warnings: result.repos
        .filter((one) => !one.guarded)
        .map((one) => `${one.base_branch} of ${one.name} is not protected: nothing guards it.`),
      notReady: !result.ready,
    };
  },

  text: ({ check: result }, style) => checkText(result, style),
});

function keepReceipt(reader: Reader, id: string, seal: Seal, at: Situation): Plan<undefined> {
  const stored = reader.receipt(id);
  const rev = (stored?.value.rev ?? 0) + 1;
  const fields = { ...seal, ...madeNow(at), rev };
  const about = `ready: ${seal.repos.map((one) => `${one.name} ${one.head.slice(0, 12)}`).join(", ")}`;
  const common = { record: `${id}/receipt`, rev, path: receiptFile(id), about };
  const fresh: Receipt = { id: `${id}/receipt`, stage: "close", ...fields };
  const effect: Effect = stored
    ? { do: "replace", before: stored.text, text: editRecord(receipt, stored, fields), ...common }
    : { do: "create", text: printRecord(receipt, fresh), ...common };
  return { data: undefined, effects: [effect] };
}

function nextOf(result: GateResult): Next | undefined {
  const [first] = result.reasons;
  if (first) return { command: first.command, reason: `${first.owner}: ${first.code}` };
  if (result.stage === "plan") return { command: `pawl start ${result.task}`, reason: "the work may begin" };
  if (result.stage === "review")
    return {
      command: `pawl review start ${result.task} --kind branch`,
      reason: "by somebody who did not write it",
    };
  return { command: `pawl approve ${result.task}`, reason: "a human decides" };
}

const BE = { plan: "begun", review: "reviewed", close: "approved" } as const;

type Shown = Pick<GateResult, "task" | "stage" | "ready" | "reasons" | "repos">;

function checkText({ task, stage, ready, reasons, repos }: Shown, style: Style): string {
  if (ready) {
    const heads = repos.filter((one) => one.changed).map((one) => `${one.name} at ${one.head.slice(0, 12)}`);
    return `${style.bold(task)} ${style.green(`may be ${BE[stage]}`)}${heads.length > 0 ? `: ${heads.join(", ")}` : ""}`;
  }
  const severalRepos = new Set(repos.map((one) => one.name)).size > 1;
  return [
    `${style.bold(task)} ${style.red(`is not ready for ${stage}`)}: ${plural(reasons.length, "reason")}`,
    ...reasons.flatMap((one) => [
      `  ${style.yellow(one.code)}${one.record ? ` ${one.record}` : ""}${severalRepos && one.repo ? ` (${one.repo})` : ""}: ${one.message}`,
      `    ${style.dim(`${one.owner}:`)} ${one.command}`,
    ]),
  ].join("\n");
}
