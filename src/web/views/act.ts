import { Failure } from "../../model/failure.ts";
import { taskShow } from "../../ops/task-show.ts";
import { type Action, FREE_ACTIONS, TASK_ACTIONS } from "../actions.ts";
import { page, seeOther } from "../exchange.ts";
import { fieldsOf } from "../fields.ts";
import { fieldsOfForm, inputOf } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { layout } from "../layout.ts";
import { statusOf } from "./problem.ts";
import type { Look, View } from "./view.ts";

/** A form of its own for each thing that can be done, so that it works without script and can be linked to. */
export const actForm: View = async (look) => {
  const action = actionOf(look);
  return page(render(look, action, await known(look), undefined));
};

/** Does it, and leads to what it changed; a refusal comes back with everything that was typed. */
export const act: View = async (look) => {
  const action = actionOf(look);
  const { parts, request } = look;
  const values = fieldsOf(request.body);
  try {
    const about = (action.about ?? []).map((name) => [name, request.query.get(name) ?? undefined]);
    const input = {
      ...inputOf(action.operation.input, action.fields, changedOnly(values, await known(look))),
      ...action.fixed,
      ...Object.fromEntries(about),
      ...(action.task && { [action.task.field]: action.task.list ? [parts.task] : parts.task }),
    };
    const { data } = await look.ask(action.operation, input as never);
    return seeOther(pathAfter(action, parts.task, data));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return page(render(look, action, values, error), statusOf(error));
  }
};

function actionOf({ parts }: Look): Action {
  const { task, action = "" } = parts;
  const known = task === undefined ? FREE_ACTIONS : TASK_ACTIONS;
  const found = Object.hasOwn(known, action) ? known[action] : undefined;
  if (!found) throw new Failure("not_found", "no_page", `There is nothing called ${action} to do here.`);
  return found;
}

/** What an edit begins with: the task as it is. */
async function known({ ask, parts }: Look): Promise<Record<string, string | undefined>> {
  if (parts.action !== "edit") return {};
  const { task } = (await ask(taskShow, { task: parts.task })).data;
  const { title, objective, acceptance, plan, notes, profile, status, blocker } = task;
  return { title, objective, acceptance, plan, notes, profile, status, blocker };
}

/** A field that was left as it was is not a change. */
const changedOnly = (
  values: Record<string, string | undefined>,
  before: Record<string, string | undefined>,
): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value?.replaceAll("\r\n", "\n") !== before[name]),
  );

function pathAfter({ tab }: Action, task: string | undefined, data: unknown): string {
  if (task !== undefined) return `/t/${task}${tab === undefined ? "" : `/${tab}`}`;
  const made = (data as { task?: { id: string } }).task;
  return made ? `/t/${made.id}` : "/notes";
}

function render(
  { parts, request, project }: Look,
  action: Action,
  values: Record<string, string | undefined>,
  refusal: Failure | undefined,
): Html {
  const { operation, title, button, fields, about = [] } = action;
  const { task } = parts;
  const subject = about.map((name) => request.query.get(name) ?? "").join(" ");
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
${refusal && html`<section class="refusal" role="alert"><h2>Not done: ${refusal.message}</h2>${refusal.hint && html`<p>${refusal.hint}</p>`}</section>`}
<form method="post" class="act" data-form="${request.path}${subject && `?${subject}`}">${fieldsOfForm(operation.input, fields, values)}
<p class="row"><button class="btn go">${button}</button> <a class="btn" href="${back}">Leave it</a></p></form>
${operation.details && html`<details class="more"><summary>What it does, and what it refuses</summary><p>${operation.details}</p></details>`}`;
  return layout({ title, section: "tasks", command: words.filter(Boolean).join(" "), main, kind: "narrow" });
}

const flagsOf = ({ fixed = {} }: Action) =>
  Object.entries(fixed).map(([name, value]) => (value === true ? `--${name}` : `--${name} ${String(value)}`));
