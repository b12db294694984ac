import type { Reason } from "../../judge/gates/gate.ts";
import { nameOf } from "../../model/actor.ts";
import { Failure } from "../../model/failure.ts";
import { parseTaskId, partOf } from "../../model/ids.ts";
import { MERGED } from "../../model/lifecycle.ts";
import { branchOfRef } from "../../model/naming.ts";
import { plural } from "../../model/text.ts";
import { approveLook } from "../../ops/approve-look.ts";
import { diffViewed } from "../../ops/diff-viewed.ts";
import { lookedAt } from "../diff/looked.ts";
import { savedDiff } from "../diff/saved-diff.ts";
import { type Response, seeOther } from "../exchange.ts";
import { fieldsOf } from "../fields.ts";
import { type Html, html } from "../html.ts";
import { short, tag } from "../layout.ts";
import { inline } from "../markdown.ts";
import { took } from "../times.ts";
import type { Underway } from "../undertakings.ts";
import { problem } from "./problem.ts";
import { assertionOf, isOpen, noPasskeys, signSection } from "./sign-section.ts";
import { type Recorded, type Shown, showTask, taskPage } from "./task-shell.ts";
import type { Look, View } from "./view.ts";

/** What would be merged, the evidence for it, and what is in the way. The yes itself is given on the terminal or with a key. */
export const approveView: View = async (look) => {
  const underway = look.deciding.underway.of(parseTaskId(look.parts.task ?? ""));
  const shown = await showTask(look);
  const { task, approvals } = shown.all;
  const content = MERGED.includes(task.status)
    ? merged(shown)
    : underway && isOpen(underway)
      ? signSection(underway, {
          path: `/t/${task.id}/approve`,
          word: task.id,
          button: "Sign with your key and merge",
          without: noPasskeys(look.request),
        })
      : await candidate(look, shown, underway);
  const command = `pawl approve {task}${approvals.length > 0 ? " --redo" : ""}`;
  return taskPage(look, shown, {
    tab: "approve",
    command,
    content: html`<div class="narrow">${content}</div>`,
  });
};

/** Asks on the terminal, or prepares what a key signs; the page shows how it goes. */
export const beginApproval: View = async ({ deciding, ask, parts, request }) => {
  const { typed, push, how } = fieldsOf(request.body);
  const { data } = await ask(approveLook, { task: parts.task });
  const { task } = data.look;
  if (!isTask(typed ?? "", task))
    return problem(
      new Failure("refused", "not_confirmed", `"${typed ?? ""}" is not ${task}.`, {
        hint: `Type ${task} to be asked. Nothing was merged.`,
      }),
    );
  deciding.approve(task, { push: push !== undefined, byKey: how === "key" });
  return seeOther(`/t/${task}/approve`);
};

/** People may type t6 for T0006, as everywhere. */
function isTask(typed: string, task: string): boolean {
  try {
    return /^\s*t/i.test(typed) && parseTaskId(typed) === task;
  } catch {
    return false;
  }
}

/** Passes on the passkey's answer; the approval in progress verifies it. */
export const signApproval: View = async ({ deciding, parts, request }) => {
  const task = parseTaskId(parts.task ?? "");
  deciding.underway.answer(task, assertionOf(request.body));
  return seeOther(`/t/${task}/approve`);
};

export const withdrawApproval: View = async ({ deciding, parts }): Promise<Response> => {
  const task = parseTaskId(parts.task ?? "");
  await deciding.underway.withdraw(task);
  return seeOther(`/t/${task}/approve`);
};

function merged({ all: { approvals, task } }: Shown): Html {
  const last = approvals.findLast((one) => one.status === "merged");
  return html`<div class="title"><h2>${task.id} is merged</h2></div>${last && html`<p>${last.id} by ${nameOf(last.actor)}, ${last.how}.</p><table class="sum"><caption class="vh">What was merged</caption><thead><tr><th scope="col">Repository</th><th scope="col">Branch</th><th scope="col">Was</th><th scope="col">Is</th></tr></thead><tbody>${last.repos.map((repo) => html`<tr><th scope="row">${repo.name}</th><td class="m">${branchOfRef(repo.ref)}</td><td class="m">${short(repo.old)}</td><td class="m">${short(repo.new)}</td></tr>`)}</tbody></table><p class="row"><a class="btn" href="/t/${task.id}/do/remove">Remove the worktrees…</a> <a class="btn" href="/audit">Audit</a></p>`}`;
}

async function candidate(look: Look, shown: Shown, underway: Underway | undefined): Promise<Html> {
  const refused = underway?.refusal && refusal(underway.refusal, "The last attempt did not merge");
  try {
    const { data } = await look.ask(approveLook, { task: look.parts.task });
    return html`${refused}${ready(data.look, shown.all, await viewedOf(look), noPasskeys(look.request))}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return html`${refused}${obstacles(shown.all.task.id, error)}`;
  }
}

const refusal = (error: Failure, title: string): Html =>
  html`<section class="refusal" role="alert"><h2>${title}: ${error.message}</h2>${error.hint && html`<p>${inline(error.hint)}</p>`}</section>`;

const CHECK_AGAIN = ["no_receipt", "stale_receipt"];

/** Everything that is in the way, with who settles it and the command for it. */
function obstacles(task: string, error: Failure): Html {
  const reasons = (error.details?.reasons ?? []) as readonly Reason[];
  const rows =
    reasons.length > 0
      ? reasons
      : [
          {
            code: error.code,
            message: error.message,
            owner: "human",
            command: error.hint ?? "",
            repo: undefined,
          },
        ];
  const settles = error.details?.settles_itself === true;
  return html`<div class="title"><h2>${task} ${settles ? "is almost ready" : "cannot be merged yet"}</h2></div>
${settles && html`<p>This needs nobody's judgement: <code>pawl approve ${task}</code> would do it before it asks you. Do it now, and see what would be merged.</p>`}
<table class="sum"><caption class="vh">What is in the way</caption><thead><tr><th scope="col">In the way</th><th scope="col">Who</th><th scope="col">Settled by</th></tr></thead><tbody>${rows.map((one) => html`<tr><td>${one.message}${one.repo !== undefined && html` <span class="dim">(${one.repo})</span>`}</td><td>${tag(one.owner === "human" ? "you" : one.owner, one.owner === "human" ? "human" : "warn")}</td><td><code>${one.command}</code></td></tr>`)}</tbody></table>
${CHECK_AGAIN.includes(error.code) && html`<form method="post" action="/t/${task}/do/check"><button class="btn go">Check now</button></form>`}${settles && html`<form method="post" action="/t/${task}/do/settle"><button class="btn go">Settle it</button></form>`}`;
}

type Candidate = Parameters<typeof approveLook.text>[0]["look"];

function ready(
  { task, repos, digits, unusual, passkeys }: Candidate,
  all: Recorded,
  viewed: string,
  without: Html | undefined,
): Html {
  const bases = [...new Set(repos.map((one) => one.base_branch))].join(", ");
  const both =
    repos.length > 1
      ? `, in ${repos.length === 2 ? "both" : `all ${repos.length}`} repositories or in none`
      : "";
  return html`<div class="title"><h2>Merge ${task} into ${bases}${both}</h2></div>
${unusual.map((line) => html`<p class="warning">${line}</p>`)}
<table class="sum"><caption class="vh">What would be merged</caption><thead><tr><th scope="col">Repository</th><th scope="col">Target now</th><th scope="col">Branch</th><th scope="col">Change</th><th scope="col">Merge</th></tr></thead><tbody>${repos.map((one) => html`<tr><th scope="row">${one.name}</th><td class="m">${one.base_branch} ${short(one.base)}</td><td class="m">${short(one.head)}</td><td>${changeOf(one.stat.at(-1) ?? "")}, ${plural(one.total, "commit")}</td><td>${tag("nothing in the way", "ok")}</td></tr>`)}</tbody></table>
${restsOn(all, repos, viewed)}
${yes({ task, digits, passkeys, repos }, without)}`;
}

/** Git's `1 file changed, 4 insertions(+)` as the rest of the page says it. */
function changeOf(stat: string): string {
  const counted = (what: string) => Number(new RegExp(`(\\d+) ${what}`).exec(stat)?.[1] ?? 0);
  return `${plural(counted("file"), "file")}, +${counted("insertion")} −${counted("deletion")}`;
}

/** Where a yes is given: by the key that the policy wants, or on the terminal. */
function yes(
  { task, digits, passkeys, repos }: Pick<Candidate, "task" | "digits" | "passkeys" | "repos">,
  without: Html | undefined,
): Html {
  const [key] = passkeys;
  const button = (word: string, how: string, main: boolean) =>
    html`<button class="btn${main && " go"}" name="how" value="${how}">${word}</button>`;
  const form = html`<form method="post" action="/t/${task}/approve"><p class="row"><label for="typed">Type the task's ID</label> <input id="typed" name="typed" size="8" autocomplete="off" required></p>
<p class="row">${key && button("Continue with your key…", "key", true)}${button("Ask on the terminal", "terminal", !key)}${repos.some((one) => one.remote !== undefined) && html` <label><input type="checkbox" name="push"> push afterwards</label>`}</p></form>`;
  return html`<section class="card sign" aria-labelledby="yes"><h2 id="yes">Your yes</h2>
<p>The receipt <code class="digits">${digits}</code> stands for exactly these commits, findings and checks. ${key ? html`You sign it with your key <b>${passkeys.map((one) => `“${one.key}”`).join(" or ")}</b>; anybody can verify the signature later.` : html`pawl asks on the terminal that runs <code>pawl ui</code> and shows the same digits there.`} First it checks git and the remotes once more.</p>
${key && without ? without : form}
<p class="dim small">Or run <code>pawl approve ${task}</code> in a terminal of your own. A click alone approves nothing. <a href="/approvers">Whose keys count</a></p></section>`;
}

/** The evidence behind the merge, each piece linked to its record. */
function restsOn(all: Recorded, repos: Candidate["repos"], viewed: string): Html {
  const { task, evidence, reviews, findings, handoffs } = all;
  const trees = new Set(repos.map((one) => one.tree));
  const proofs = evidence.filter(
    (one) => one.tree !== undefined && trees.has(one.tree) && one.exit_code === 0,
  );
  const last = reviews.findLast((one) => one.kind === "branch" && one.counts);
  const by = [...new Set(findings.map((one) => one.status))].map(
    (status) => `${findings.filter((one) => one.status === status).length} ${status}`,
  );
  return html`<dl class="kv"><dt>Checks</dt><dd>${proofs.length === 0 ? "none on exactly these trees" : proofs.map((one, at) => html`${at > 0 && ", "}<a href="/t/${task.id}/evidence#${partOf(one.id)}">${partOf(one.id)} ${one.check ?? one.argv[0]}</a> passed in ${took(one.duration_ms)}`)}</dd>
<dt>Review</dt><dd>${last ? html`<a href="/t/${task.id}">${partOf(last.id)}</a> ${last.verdict.replaceAll("_", " ")}, by ${nameOf(last.actor)}` : "none; this profile requires none"}</dd>
<dt>Findings</dt><dd><a href="/t/${task.id}/findings">${by.join(", ") || "none"}</a></dd>
<dt>Last handoff</dt><dd>${handoffs.at(-1)?.what ?? "none"}</dd>
<dt>You looked at</dt><dd><a href="/t/${task.id}/diff">${viewed}</a></dd></dl>`;
}

async function viewedOf({ ask, parts }: Look): Promise<string> {
  const repos = await savedDiff(ask, parts.task, undefined);
  const { data } = await ask(diffViewed, { task: parts.task });
  const { isViewed } = lookedAt(data.viewed, repos);
  const total = repos.reduce((sum, { files }) => sum + files.length, 0);
  const seen = repos.flatMap(({ repo, files }) => files.filter((file) => isViewed(repo, file))).length;
  return `${seen} of ${plural(total, "file")}${seen < total ? "" : "; nothing changed since"}`;
}
