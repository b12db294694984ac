import * as z from "zod/mini";
import { gatherInbox, lookAtRuns } from "../flows/run/look-at-inbox.ts";
import { holderOf } from "../judge/claims.ts";
import type { Inbox } from "../judge/runs/inbox.ts";
import { runRow } from "../judge/runs/show.ts";
import { shorten } from "../model/ids.ts";
import { columns, indent, paragraphs, type Style, warningsOf } from "../model/text.ts";
import { operation } from "./operation.ts";

const MOST_READY = 5;

export const inbox = operation({
  id: "inbox",
  summary: "Show what needs you, what is running, what is ready to start and what ended recently",
  details:
    "One look at all active tasks: what waits for a person and the one command for it, running agents and what they\ndid last, worktrees that somebody holds by hand, tasks taken on other machines (as of the last `pawl sync`),\ntasks that are ready to start, and what ended recently.",
  examples: ["pawl inbox", "pawl inbox --json"],
  access: "read",
  settlesRuns: true,
  input: z.strictObject({}),

  observe: (world, _input, _at, reader) => lookAtRuns(world, reader),

  gather: (reader, _input, at, views) => gatherInbox(reader, views, at),

  decide(_input, { inbox: found, problems, lost }) {
    const [need] = found.needs_you;
    const [ready] = found.ready;
    return {
      data: { inbox: found },
      warnings: [...lost, ...found.running.flatMap((one) => one.warnings), ...warningsOf(problems)],
      next: need
        ? { command: need.command, reason: `${need.task}: ${need.why}` }
        : ready && { command: `pawl start ${ready.id}`, reason: "the oldest task that is ready to start" },
    };
  },

  text: ({ inbox: found }, style) => inboxText(found, style),
});

/** The same on a page, in a terminal, and refreshed in place. */
export function inboxText(found: Inbox, style: Style): string {
  const more = found.ready.length - MOST_READY;
  return paragraphs(
    section(
      "needs you",
      found.needs_you.map((one) => [
        style.bold(one.task),
        shorten(one.title, 40),
        style.yellow(shorten(one.why, 50)),
        style.dim(style.times(`${one.who}, ${one.since}`)),
        style.dim(one.command),
      ]),
      style,
    ),
    section(
      "running",
      found.running.map((one) => [...runRow(one, style), style.dim(shorten(one.title, 40))]),
      style,
    ),
    section(
      "held",
      found.held.map((one) => [style.bold(one.run), shorten(one.title, 40), style.dim(one.holder)]),
      style,
    ),
    found.claimed.length > 0 &&
      section(
        "claimed elsewhere",
        found.claimed.map((one) => [
          style.bold(one.task),
          shorten(one.title, 40),
          style.dim(holderOf(one)),
          one.expired ? style.yellow(`expired: pawl start ${one.task} --claim`) : "",
        ]),
        style,
      ),
    section(
      "ready",
      [
        ...found.ready.slice(0, MOST_READY).map((one) => [style.bold(one.id), shorten(one.title, 60)]),
        ...(more > 0 ? [[style.dim(`… and ${more} more`)]] : []),
      ],
      style,
    ),
    section(
      "recent",
      found.recent.map((one) => [
        style.dim(style.times(one.time)),
        one.event,
        style.bold(one.record.replace(/@\d+$/, "")),
        shorten(one.about, 60),
      ]),
      style,
    ),
  );
}

function section(heading: string, rows: readonly (readonly string[])[], style: Style): string {
  return `${style.bold(heading)}\n${rows.length === 0 ? style.dim("  nothing") : indent(columns(rows))}`;
}
