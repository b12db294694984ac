import { openAttempt, type RunStanding } from "../../judge/runs/standing.ts";
import { nameOf } from "../../model/actor.ts";
import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import type { Run } from "../../model/records/run.ts";
import { plural } from "../../model/text.ts";
import { runList } from "../../ops/run-list.ts";
import { runLog } from "../../ops/run-log.ts";
import { lineHtml } from "../ansi.ts";
import { type Html, html } from "../html.ts";
import { empty, short, tag } from "../layout.ts";
import { clock, lasted } from "../times.ts";
import { type Recorded, showTask, taskPage, toneOf } from "./task-shell.ts";
import type { View } from "./view.ts";

const LATEST_LINES = 400;

/** One run: how it stands, where it works, and what it says, as it says it. */
export const runView: View = async (look) => {
  const shown = await showTask(look);
  const value = runOf(shown.all, look.parts.run);
  const { id } = value;
  const { data } = await look.ask(runList, { task: shown.all.task.id });
  const standing = data.runs.find((one) => one.id === id);
  const working = openAttempt(value) !== undefined;
  const content = html`<div class="run">${facts(value, standing)}${controls(value, working)}
${value.attempts.length === 0 ? empty("Somebody works on this by hand, so there is no log.") : await logOf(look, id, working)}</div>`;
  return taskPage(look, shown, {
    tab: "runs",
    command: `pawl run log ${id}${working ? " --follow" : ""}`,
    content,
  });
};

/** The run that the address names. */
export function runOf({ task, runs }: Pick<Recorded, "task" | "runs">, named = ""): Run {
  const found = runs.find((one) => one.id === `${task.id}/${named}`);
  if (found) return found;
  throw new Failure("not_found", "no_run", `${task.id} has no run ${named}.`, {
    hint: `Its runs: \`pawl run list ${task.id}\``,
  });
}

function facts(value: Run, standing: RunStanding | undefined): Html {
  const state = standing?.state ?? value.status;
  const usage = standing?.usage;
  return html`<section id="standing" data-live><div class="title"><h2>${partOf(value.id)}</h2>${tag(state, toneOf(state))}<span class="dim">${value.agent ?? nameOf(value.holder)}${standing?.elapsed !== undefined && `, ${lasted(standing.elapsed)}`}</span></div>
<dl class="kv">${standing?.last && html`<dt>Last</dt><dd>${standing.last}</dd>`}${value.reason !== undefined && html`<dt>Reason</dt><dd>${value.reason}</dd>`}
<dt>Where</dt><dd>${value.repos.map((repo) => html`<b>${repo.name}</b> <code>${repo.worktree}</code> from <span class="m">${short(repo.base_head)}</span> `)}</dd>
${usage && usage.turns > 0 && html`<dt>Used</dt><dd>${plural(usage.turns, "turn")}, ${usage.input + usage.output} tokens${usage.cost !== undefined && `, $${usage.cost.toFixed(2)}`}</dd>`}
${value.attempts.map((one) => html`<dt>Attempt ${one.number}</dt><dd>${one.agent}, ${clock(one.begun)}${one.ended !== undefined && ` to ${clock(one.ended)}`}${one.reason !== undefined && `: ${one.reason}`}</dd>`)}</dl></section>`;
}

function controls(value: Run, working: boolean): Html | undefined {
  const [task, run] = [taskOf(value.id), partOf(value.id)];
  const act = (word: string, action: string) =>
    html`<a class="btn" href="/t/${task}/do/${action}?run=${run}">${word}</a>`;
  if (working) return html`<p class="row" id="acts" data-live>${act("Stop…", "stop")}</p>`;
  return html`<p class="row" id="acts" data-live>${value.attempts.length > 0 && value.ended === undefined && act("Resume…", "resume")}${value.ended === undefined && [act("Keep the worktrees…", "keep"), act("Remove the worktrees…", "remove")]}${value.snapshots.length > 0 && html`<a class="btn" href="/t/${task}/diff?run=${run}">Saved diff</a>`}</p>`;
}

async function logOf(look: Parameters<View>[0], id: string, working: boolean): Promise<Html> {
  const [task, run] = [taskOf(id), partOf(id)];
  const { data } = await look.ask(runLog, { run: id, lines: LATEST_LINES });
  const stream = working && html` data-stream="/t/${task}/runs/${run}/stream"`;
  return html`<section class="log" aria-label="Log"><header><h3>Log</h3><span class="dim small" id="following">${working ? "" : "ended"}</span><span class="sp"></span>${working && html`<button type="button" id="pause" hidden>Pause</button>`}</header><pre id="log" tabindex="0"${stream}>${data.lines.map((line) => html`<span class="ln">${lineHtml(line)}</span>\n`)}</pre></section>`;
}
