import * as z from "zod/mini";
import { checkAndSeal } from "../flows/check/check-and-seal.ts";
import type { Request } from "../flows/check/check-request.ts";
import { checkTask } from "../flows/check/check-task.ts";
import { receiptOf } from "../flows/check/keep-receipt.ts";
import { type GateResult, STAGES, type Stage } from "../judge/gates/gate.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { choice, flag, line, maybe, taskField } from "../model/input.ts";
import { receiptFile } from "../model/paths.ts";
import { isReceiptOf } from "../model/records/run.ts";
import { plural, type Style } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Next } from "../ports/operation.ts";
import { procedure } from "./operation.ts";

export const check = procedure({
  id: "check",
  summary: "Check whether the task is ready for a stage; if not, what is missing, who settles it and how",
  details:
    "plan: may the work begin? review: may it be reviewed? close, the default: may a human approve it? manage: has\nits manager read, settled and handed over everything it started?\n--fix does what needs nobody's judgement: it brings in a moved base, runs the required checks, writes a\nhandoff from the commits if nobody left one, and saves the diff. Passing the close stage writes a receipt\nbound to the commits, the findings and the evidence; any change to them voids it.\n--request is for CI: it judges a pull request's head by the records in pawl/state and by the policy of the\nbranch it goes to, in a clone that has no worktree of the task.\nExit code 0 when it is ready, 1 when it is not, 2 when it could not tell.",
  examples: [
    "pawl check",
    "pawl check --fix",
    "pawl check T0001 --stage plan --json",
    "pawl check --request 3f2a9c1 --base main",
  ],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    stage: maybe(choice(STAGES, "ready for what (default: close)")),
    request: maybe(line("a pull request's head, judged by what was published", "COMMIT", 80)),
    base: maybe(line("with --request: the branch it goes to (default: main)", "BRANCH", 200)),
    repo: maybe(line("with --request: the repository, as records call it", "NAME", 60)),
    fix: flag("do what needs nobody's judgement; close stage only"),
  }),

  async rehearse(hands, input) {
    if (requestIn(input)) return [];
    const id = await hands.look((reader, at) => getTask(reader, input.task, at));
    if (input.stage === "manage") return [];
    const { seal, reasons } = await checkTask(hands, id, stageOf(input));
    if (input.fix) return reasons.map((one) => ({ do: "settle", path: `${one.code}: ${one.command}` }));
    const stored = await hands.look((reader) => receiptOf(reader, id)?.value);
    return seal && !isReceiptOf(stored, seal) ? [{ do: "write", path: receiptFile(id) }] : [];
  },

  async perform(hands, input) {
    const request = requestIn(input);
    if (request) {
      const { checkRequest } = await import("../flows/check/check-request.ts");
      const outcome = judged(await checkRequest(hands, request), []);
      // A request is merged on the host.
      return outcome.notReady ? outcome : { ...outcome, next: undefined };
    }
    const id = await hands.look((reader, at) => getTask(reader, input.task, at));
    const done = input.fix ? await settle(hands, id) : [];
    const stage = stageOf(input);
    const result = stage === "manage" ? await checkManager(hands, id) : await checkAndSeal(hands, id, stage);
    return judged(result, done);
  },

  text: ({ check: result }, style) => checkText(result, style),
});

function judged(result: GateResult, settled: string[]) {
  const { seal, ready, repos } = result;
  return {
    data: { check: { ...result, seal: undefined, receipt: seal?.digest, settled } },
    next: nextOf(result),
    warnings: repos
      .filter((one) => !one.guarded)
      .map((one) => `${one.base_branch} of ${one.name} is not protected.`),
    notReady: !ready,
  };
}

/** A request is another question than that about a task of this clone. */
function requestIn(input: Asked): Request | undefined {
  const { request, base, repo, task, stage, fix } = input;
  const other = request === undefined ? { base, repo } : { task, stage, fix };
  const [field] = Object.entries(other).find(([, value]) => value !== undefined && value !== false) ?? [];
  if (field !== undefined)
    throw new Failure(
      "usage",
      "request_alone",
      request === undefined
        ? `--${field} is for --request only.`
        : `--request cannot be combined with ${field}.`,
      { hint: "pawl check --request <commit> --base main", details: { field } },
    );
  return request === undefined ? undefined : { head: request, base: base ?? "main", repo };
}

interface Asked {
  task?: string | undefined;
  stage?: Stage | undefined;
  fix?: boolean | undefined;
  request?: string | undefined;
  base?: string | undefined;
  repo?: string | undefined;
}

/** Loaded on demand: it brings in `verify` and `refresh`, which a plain check does not need. */
const settle = async (hands: Hands, task: string) =>
  (await (await import("./settle-close.ts")).settleClose(hands, task, "what can be")).done;

/** Whether the manager has accounted for everything, by the records alone. */
async function checkManager(hands: Hands, task: string): Promise<GateResult> {
  const { manageReasons } = await import("../flows/run/run-children.ts");
  const reasons = await hands.look((reader) => manageReasons(reader, task));
  return { task, stage: "manage", ready: reasons.length === 0, reasons, repos: [], seal: undefined };
}

function stageOf({ stage = "close", fix }: { stage?: Stage | undefined; fix?: boolean | undefined }): Stage {
  if (!fix || stage === "close") return stage;
  throw new Failure("usage", "fix_closes", "--fix is for the close stage.", {
    hint: "pawl check --fix",
    details: { field: "fix" },
  });
}

function nextOf(result: GateResult): Next | undefined {
  const [first] = result.reasons;
  if (first) return { command: first.command, reason: `${first.owner}: ${first.code}` };
  if (result.stage === "plan") return { command: `pawl start ${result.task}`, reason: "the work may begin" };
  if (result.stage === "review")
    return {
      command: `pawl review start ${result.task} --kind branch`,
      reason: "by somebody other than its author",
    };
  if (result.stage === "manage") return { command: "pawl inbox", reason: "what waits for a human" };
  return { command: `pawl approve ${result.task}`, reason: "a human decides" };
}

const BE = { plan: "started", review: "reviewed", close: "approved", manage: "handed over" } as const;

type Shown = Pick<GateResult, "task" | "stage" | "ready" | "reasons" | "repos"> & { settled: string[] };

function checkText({ settled, ...result }: Shown, style: Style): string {
  return [...settled.map((line) => style.dim(`  ${line}`)), resultText(result, style)].join("\n");
}

function resultText({ task, stage, ready, reasons, repos }: Omit<Shown, "settled">, style: Style): string {
  if (task === "") return "Nothing is required: no remote of this project is guarded on that branch.";
  if (ready) {
    const heads = repos.filter((one) => one.changed).map((one) => `${one.name} at ${one.head.slice(0, 12)}`);
    return `${style.bold(task)} ${style.green(`can be ${BE[stage]}`)}${heads.length > 0 ? `: ${heads.join(", ")}` : ""}`;
  }
  const severalRepos = new Set(repos.map((one) => one.name)).size > 1;
  return [
    `${style.bold(task)} ${style.red(`cannot be ${BE[stage]} yet`)}: ${plural(reasons.length, "reason")}`,
    ...reasons.flatMap((one) => [
      `  ${style.yellow(one.code)}${one.record ? ` ${one.record}` : ""}${severalRepos && one.repo ? ` (${one.repo})` : ""}: ${one.message}`,
      `    ${style.dim(`${one.owner}:`)} ${one.command}`,
    ]),
  ].join("\n");
}
