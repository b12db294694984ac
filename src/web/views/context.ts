import { context } from "../../ops/context.ts";
import { html } from "../html.ts";
import { markdown } from "../markdown.ts";
import { showTask, taskPage } from "./task-shell.ts";
import type { View } from "./view.ts";

export const contextView: View = async (look) => {
  const shown = await showTask(look);
  const { data } = await look.ask(context, { task: look.parts.task });
  const content = html`<div class="narrow"><p class="dim">What an agent gets when it starts from scratch: ${data.context.tokens} of at most ${data.context.budget} tokens.</p><div class="prose packet">${markdown(data.context.text)}</div></div>`;
  return taskPage(look, shown, { tab: "context", command: "pawl context {task}", content });
};
