import { Failure } from "../../model/failure.ts";
import { printable } from "../../model/printable.ts";
import { PLAIN } from "../../model/text.ts";
import { laneList } from "../../ops/lane-list.ts";
import { runList } from "../../ops/run-list.ts";
import { taskShow } from "../../ops/task-show.ts";
import type { Action } from "../actions/action.ts";
import { findAction } from "../actions/all.ts";
import { page, seeOther } from "../exchange.ts";
import { fieldsOf } from "../fields.ts";
import { fieldsOfForm, inputOf } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type LateForm, lateForm, marksOf } from "../late-form.ts";
import { layout } from "../layout.ts";
import { inline } from "../markdown.ts";
import { statusOf } from "./problem.ts";
import type { Look, View } from "./view.ts";

/** Each action has its own form at its own address, so that it works without script and can be linked to. */
export const actForm: View = async (look) => {
  const action = actionOf(look);
  const before = await known(look);
  // A link may fill in the likely values; whoever submits the form sees them and may change them.
  const { query } = look.request;
  const meant = action.fields.flatMap(({ name }) => (query.has(name) ? [[name, query.get(name)]] : []));
  const values = { ...before.values, ...Object.fromEntries(meant) };
  return page(await render(look, action, { values, before }));
};

/** Carries the action out and redirects to what it changed; a refusal keeps everything that was typed. */
export const act: View = async (look) => {
  const action = actionOf(look);
  const { parts, request } = look;
  const values = fieldsOf(request.body);
  const before = await known(look);
  try {
    const about = (action.about ?? []).map((name) => [name, request.query.get(name) ?? undefined]);
    const input = {
      ...inputOf(action.operation.input, action.fields, changedOnly(values, before.values)),
      ...cleared(action, values, before.values),
      ...action.fixed,
      ...Object.fromEntries(about),
      ...subjectOf(action, look),
      // The rev that the form showed: if somebody has changed the record since, the operation refuses.
      ...(values.rev === undefined ? {} : { rev: Number(values.rev) }),
    };
    const { data, warnings, next } = await look.ask(action.operation, input as never);
    const text = printable(action.operation.text(data, PLAIN));
    const done = look.notices.keep({ text, warnings, next });
    return seeOther(`${pathAfter(action, parts.task, data)}?done=${done}`);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const late = lateForm(action.fields, values, before.values, error);
    const filled = late ?? { values, refusal: error };
    return page(await render(look, action, { ...filled, before }), statusOf(error));
  }
};

function actionOf({ parts }: Look): Action {
  const { task, action = "" } = parts;
  const found = findAction(action, task !== undefined);
  if (!found)
    throw new Failure("not_found", "no_page", `There is no action called ${action}.`, {
      hint: "What can be done to a task is in the menu Actions on its page.",
    });
  return found;
}

/** The task, or the part of it that the address names. */
function subjectOf({ task: subject }: Action, { parts, request }: Look): Record<string, unknown> {
  if (!subject) return {};
  const part = subject.part === undefined ? null : request.query.get(subject.part);
  const name = part === null ? parts.task : `${parts.task}/${part}`;
  return { [subject.field]: subject.list ? [name] : name };
}

type Values = Record<string, string | undefined>;

/** The present values of the record that is edited, and its rev. */
interface Known {
  values: Values;
  rev?: number;
}

async function known({ ask, parts, request }: Look): Promise<Known> {
  if (parts.action === "edit") {
    const { task } = (await ask(taskShow, { task: parts.task })).data;
    const { title, objective, acceptance, plan, notes, profile, status, blocker, rev } = task;
    const lists = { depends: task.depends_on.join("\n"), label: task.labels.join("\n") };
    return { values: { title, objective, acceptance, plan, notes, profile, status, blocker, ...lists }, rev };
  }
  if (parts.action === "lane-edit") {
    const id = `${parts.task}/${request.query.get("lane")}`;
    const lane = (await ask(laneList, { task: parts.task })).data.lanes.find((one) => one.id === id);
    if (!lane)
      throw new Failure("not_found", "no_record", `There is no lane ${id}.`, {
        hint: `Its lanes: \`pawl lane list ${parts.task}\``,
      });
    const { paths, after, owner, rev } = lane;
    return { values: { path: paths.join("\n"), after: after.join("\n"), owner }, rev };
  }
  return { values: {} };
}

/** A field that was left as it was is not a change. */
const changedOnly = (values: Values, before: Values): Values =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value?.replaceAll("\r\n", "\n") !== before[name]),
  );

/** Lists that were emptied in the form, where the command can clear them too. */
const cleared = ({ operation }: Action, values: Values, before: Values) =>
  Object.fromEntries(
    (operation.cli?.clears ?? [])
      .filter((name) => before[name] && values[name] === undefined)
      .map((name) => [name, []]),
  );

function pathAfter({ tab }: Action, task: string | undefined, data: unknown): string {
  if (task !== undefined) return `/t/${task}${tab === undefined ? "" : `/${tab}`}`;
  const made = (data as { task?: { id: string } }).task;
  return made ? `/t/${made.id}` : "/notes";
}

const AGENTS = ["claude", "codex", "copilot"];

/** The agents that pawl knows, and any others that have run in this project. */
async function agentsOf({ ask }: Look): Promise<string[]> {
  const { data } = await ask(runList, {});
  return [...new Set([...AGENTS, ...data.runs.flatMap((one) => one.agent ?? [])])];
}

interface Filled extends Partial<LateForm> {
  values: Values;
  before: Known;
}

async function render(look: Look, action: Action, filled: Filled): Promise<Html> {
  const { values, before, refusal, both = [] } = filled;
  const { parts, request, project } = look;
  const { operation, title, button, fields, about = [] } = action;
  const lists = fields.some((one) => one.suggest) ? { agents: await agentsOf(look) } : {};
  const { task } = parts;
  const names = [...about, ...(action.task?.part === undefined ? [] : [action.task.part])];
  const subject = names.flatMap((name) => request.query.get(name) ?? []).join(" ");
  const back = task === undefined ? "/" : `/t/${task}`;
  const words = [
    "pawl",
    ...operation.id.split("."),
    subject || task,
    ...(action.fixed ? flagsOf(action) : []),
  ];
  const main = html`<p class="crumb"><a href="/">${project}</a>${task !== undefined && html` / <a href="${back}">${task}</a>`}</p>
<div class="title"><h1>${title}${subject && html` <span class="id">${subject}</span>`}</h1></div>
<p class="dim">${operation.summary}.</p>
${refusal && html`<section class="refusal" role="alert"><h2>Not done: ${refusal.message}</h2>${refusal.hint && html`<p>${inline(refusal.hint)}</p>`}${both.map(({ label, now }) => html`<p><b>${label}</b> now says:</p><pre>${now}</pre>`)}</section>`}
<form method="post" class="act" data-form="${request.path}${subject && `?${subject}`}">${before.rev !== undefined && html`<input type="hidden" name="rev" value="${before.rev}">${marksOf(fields, before.values)}`}${fieldsOfForm(operation.input, fields, values, lists)}
<p class="row"><button class="btn go">${button}</button> <a class="btn" href="${back}">Cancel</a></p></form>
${operation.details && html`<details class="more"><summary>What it does and what it refuses</summary><p>${operation.details}</p></details>`}`;
  return layout({ title, section: "tasks", command: words.filter(Boolean).join(" "), main, kind: "narrow" });
}

const flagsOf = ({ fixed = {} }: Action) =>
  Object.entries(fixed).map(([name, value]) => (value === true ? `--${name}` : `--${name} ${String(value)}`));
