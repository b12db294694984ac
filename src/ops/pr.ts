import * as z from "zod/mini";
import { keysInForce } from "../flows/audit/older-keys.ts";
import { checkTask } from "../flows/check/check-task.ts";
import { expectTerminal, leaving, refuseAgents } from "../flows/human-only.ts";
import { requestText } from "../flows/pr/request-text.ts";
import { lookForRequest, signRequest } from "../flows/pr/sign-request.ts";
import { publishRecords, recordsToPublish } from "../flows/sync/publish-records.ts";
import { readTrust } from "../flows/trust/read-trust.ts";
import { getRun } from "../judge/current-run.ts";
import type { GateResult } from "../judge/gates/gate.ts";
import { mustSign } from "../judge/keys.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { taskOf } from "../model/ids.ts";
import { flag, maybe, raw, taskField } from "../model/input.ts";
import { LIVE } from "../model/lifecycle.ts";
import { refOfBranch } from "../model/naming.ts";
import { approval, type Run } from "../model/records/run.ts";
import type { Task } from "../model/records/task.ts";
import { plural, quoted } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import { procedure } from "./operation.ts";
import { settleClose } from "./settle-close.ts";

interface Pushed {
  repo: string;
  remote: string;
  branch: string;
  base: string;
  head: string;
}

interface Wanted {
  text?: boolean | undefined;
  sign?: boolean | undefined;
  sign_with?: string | undefined;
}

export const pr = procedure({
  id: "pr",
  summary: "Push a task's branch and write the text of its pull request, with evidence and findings",
  details:
    "First does what needs nobody's judgement, like `pawl check --fix`. Then pushes the task's branch to the remote\nof its base, in every repository that changed, and prints the text of the request: objective, evidence on\nexactly this tree, findings, reviews, the receipt. --text only prints it, for a pipe. If the remote is guarded\nor already has the records, pr publishes them first, so that the request's checks can read them; the first\ntime it asks, like `pawl sync`. Once the host has merged the request, by whichever button, `git pull` and\n`pawl finish` end the task. Under `approvals: signed` a human signs the request first with --sign, on a\nterminal, like an approval; the signature explains one merge or squash of exactly this branch.",
  examples: ["pawl pr", "pawl pr T0001", "pawl pr T0001 --text", "pawl pr T0001 --sign"],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    text: flag("only print the text; push nothing and change nothing"),
    sign: flag("sign the request, if the policy requires signatures (human only)"),
    sign_with: maybe(raw("with --sign: sign with this key", "FILE")),
  }),

  async rehearse(hands, input) {
    const { task, run } = await find(hands, input.task);
    if (input.text) return [];
    if (wantsSignature(input)) {
      await expectSigner(hands);
      await lookForRequest(hands, task.id);
    }
    const gate = await checkTask(hands, task.id, "close");
    const pushes = await pushesOf(hands, run, gate);
    const records = await recordsToPublish(hands, await isChecked(hands, pushes, gate));
    return [
      ...(records === undefined ? [] : [{ do: "publish", path: records }]),
      ...pushes.map((one) => ({ do: "push", path: `${one.branch} of ${one.repo} to ${one.remote}` })),
    ];
  },

  async perform(hands, input) {
    const sign = wantsSignature(input);
    if (sign) await expectSigner(hands);
    const { task, run } = await find(hands, input.task);
    if (sign) for (const line of (await settleClose(hands, task.id, "all")).done) hands.say(line);
    const signed = sign ? await signRequest(hands, task.id, input.sign_with) : null;
    const gate = input.text
      ? await checkTask(hands, task.id, "close")
      : (await settleClose(hands, task.id, "what can be")).gate;
    const pushes = input.text ? [] : await pushesOf(hands, run, gate);
    // Whatever checks the request begins with the push, and reads the records then.
    const records = input.text
      ? { remote: undefined, warnings: [] }
      : await leaving(
          publishRecords(hands, await isChecked(hands, pushes, gate)),
          `nothing was published or pushed. To go on: pawl pr ${task.id}`,
        );
    for (const one of pushes) await push(hands, one);
    const text = await hands.look((reader) => requestText(reader, task, gate));
    const [first] = pushes;
    return {
      data: {
        request: {
          task: task.id,
          title: task.title,
          text,
          ready: gate.ready,
          pushed: pushes,
          signed,
          records: records.remote,
        },
      },
      warnings: [
        ...records.warnings,
        ...(gate.ready
          ? []
          : [
              `${task.id} is not ready to be merged: ${plural(gate.reasons.length, "reason")} (pawl check ${task.id}).`,
            ]),
        ...(input.text || !(await lacksSignature(hands, task.id, gate))
          ? []
          : [
              `The policy requires signatures, so audits will report the host's merge unless a human signs the request: pawl pr ${task.id} --sign`,
            ]),
      ],
      next: first && {
        command: `pawl pr ${task.id} --text | gh pr create --base ${quoted(first.base)} --head ${quoted(first.branch)} --title ${quoted(task.title)} --body-file -`,
        reason: `${signed && records.remote === undefined ? "pawl sync publishes the signature; " : ""}or open it on the host's page; once it is merged: git pull, then pawl finish`,
      },
    };
  },

  text: ({ request }, style) =>
    [
      ...request.pushed.map((one) =>
        style.dim(`${one.repo}: ${one.branch} is at ${one.head.slice(0, 12)} on ${one.remote}`),
      ),
      ...(request.records === undefined
        ? []
        : [style.dim(`the records are at pawl/state on ${request.records}`)]),
      ...(request.signed ? [style.dim(`${request.signed.id}: ${request.signed.how}`)] : []),
      ...(request.pushed.length > 0 ? ["", style.bold(request.title), ""] : []),
      request.text,
    ].join("\n"),
});

/** Text goes through a pipe, and a human is asked on a terminal; so it is one or the other. */
function wantsSignature({ text, sign, sign_with }: Wanted): boolean {
  const wants = sign === true || sign_with !== undefined;
  if (!wants || !text) return wants;
  throw new Failure("usage", "sign_or_text", "--text only prints, so nothing can be signed with it.", {
    hint: "Sign it first: pawl pr --sign",
  });
}

async function expectSigner(hands: Hands): Promise<void> {
  await refuseAgents(hands, "sign a request");
  await expectTerminal(hands);
}

/** A repository wants decisions signed, and nobody has signed that exactly this is requested there. */
async function lacksSignature(hands: Hands, task: string, gate: GateResult): Promise<boolean> {
  const sites = await hands.git.sites();
  const records = await hands.look((reader) => reader.parts(approval, task).records);
  const isRequested = (name: string, head: string) =>
    records.some(
      ({ value }) =>
        value.status === "requested" && value.repos.some((one) => one.name === name && one.head === head),
    );
  for (const { name, base, base_branch, head } of gate.repos.filter((one) => one.changed))
    if (
      !isRequested(name, head) &&
      mustSign(await keysInForce(hands, sites.named(name), refOfBranch(base_branch), base))
    )
      return true;
  return false;
}

/** Whether what reaches these bases has to be explained by records, so that a check of the request reads them. */
async function isChecked(hands: Hands, pushes: readonly Pushed[], gate: GateResult): Promise<boolean> {
  const sites = await hands.git.sites();
  for (const { repo, remote } of pushes) {
    const site = sites.named(repo);
    const { remotes } = await readTrust(hands, site);
    const into = gate.repos.find((one) => one.name === repo);
    if (remotes.some((one) => one.name === remote && one.guarded)) return true;
    if (into && mustSign(await keysInForce(hands, site, refOfBranch(into.base_branch), into.base)))
      return true;
  }
  return false;
}

async function find(hands: Hands, named: string | undefined): Promise<{ task: Task; run: Run }> {
  return hands.look((reader, at) => {
    const id = getTask(reader, named, at);
    const task = reader.task(id).value;
    if (!LIVE.includes(task.status))
      throw new Failure(
        "refused",
        "not_under_way",
        `${id} is ${task.status}; there is nothing to open a pull request for.`,
        {
          hint: `pawl task show ${id}`,
          details: { task: id, status: task.status },
        },
      );
    return { task, run: getRun(reader, id).value };
  });
}

async function pushesOf(hands: Hands, run: Run, gate: GateResult): Promise<Pushed[]> {
  const [sites, remotes] = [await hands.git.sites(), await hands.git.remotes()];
  const pushes: Pushed[] = [];
  for (const { name, branch, base_branch, head } of gate.repos.filter((one) => one.changed)) {
    const upstream = await remotes.remoteOf(sites.named(name), base_branch);
    if (!upstream)
      throw new Failure("refused", "no_remote", `${base_branch} of ${name} has no remote to push to.`, {
        hint: "Add one with `git remote add origin <url>`; without a remote, a human merges it here: pawl approve",
        details: { repo: name },
      });
    pushes.push({ repo: name, remote: upstream.remote, branch, base: upstream.ref, head });
  }
  if (pushes.length > 0) return pushes;
  const task = taskOf(run.id);
  throw new Failure("refused", "no_changes", "No repository of the task differs from its base.", {
    hint: `pawl context ${task}`,
    details: { task },
  });
}

async function push(hands: Hands, { repo, remote, branch, head }: Pushed): Promise<void> {
  const site = (await hands.git.sites()).named(repo);
  hands.say(`Pushing ${branch} of ${repo} to ${remote} …`);
  const refspec = `${head}:${refOfBranch(branch)}`;
  const done = await (await hands.git.remotes()).push(site, remote, [refspec], (line) => hands.say(line));
  if (done.ok) return;
  throw new Failure(
    "unavailable",
    `push_${done.reason}`,
    `${branch} of ${repo} was not pushed: ${done.said}`,
    {
      hint:
        done.reason === "rejected"
          ? `The remote has another ${branch}. Look at it first: git fetch ${remote} && git log ${remote}/${branch}`
          : "Nothing was changed here. Fix the remote, then run this again.",
      details: { repo, remote, branch },
    },
  );
}
