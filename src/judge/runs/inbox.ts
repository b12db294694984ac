import { nameOf } from "../../model/actor.ts";
import type { Finding, Message } from "../../model/records/parts.ts";
import type { Task } from "../../model/records/task.ts";
import { firstLine } from "../../model/text.ts";
import type { LoggedEvent, TaskSummary } from "../../ports/ports.ts";
import type { ShownClaim } from "../claims.ts";
import { startsOthers } from "../current-run.ts";
import type { Reason } from "../gates/gate.ts";
import { senderName } from "../mail.ts";
import type { RunStanding } from "./standing.ts";

/** Everything about one task under way, from the records and the processes on this machine. */
export interface LiveTask {
  task: Pick<Task, "id" | "title" | "status" | "blocker" | "actor" | "updated">;
  runs: readonly RunStanding[];
  /** What the records say is missing before it can be approved. */
  reasons: readonly Pick<Reason, "code" | "owner" | "command">[];
  findings: readonly Pick<Finding, "severity">[];
  /** The work was saved, and there was none: no file differs from the base. */
  unchanged: boolean;
  /** Unread messages to the human. */
  mail: readonly Message[];
  /** When any of its records was last written, apart from mail. */
  touched: string;
}

/** Something that waits for a person, and the command for it. */
export interface Need {
  /**
   * What the person would do: read mail, approve, review, decide about a blocker, look after a run, settle
   * what only they can, or find out what is missing.
   */
  kind: "mail" | "approve" | "review" | "blocked" | "run" | "settle" | "missing";
  task: string;
  title: string;
  run: string | undefined;
  /** Who wrote, last worked on it or blocked it, and when. */
  who: string;
  since: string;
  why: string;
  command: string;
}

export interface Inbox {
  needs_you: Need[];
  running: (RunStanding & { title: string })[];
  /** Worktrees that somebody works in by hand. */
  held: { task: string; title: string; run: string; holder: string; since: string }[];
  /** Tasks claimed on other machines. */
  claimed: (ShownClaim & { title: string })[];
  ready: Pick<TaskSummary, "id" | "title">[];
  recent: Pick<LoggedEvent, "time" | "event" | "record" | "about" | "actor">[];
}

const AT_WORK: readonly RunStanding["state"][] = ["starting", "running", "orphaned", "ending"];
const isAtWork = (run: RunStanding) => AT_WORK.includes(run.state);

export function inboxOf(
  live: readonly LiveTask[],
  ready: readonly TaskSummary[],
  events: readonly LoggedEvent[],
  claimed: Inbox["claimed"] = [],
): Inbox {
  const isTaken = (id: string) => claimed.some((one) => one.task === id && !one.expired);
  return {
    needs_you: live.flatMap((one) => [...mailFor(one), ...needsOf(one, events)]),
    running: live.flatMap(({ task, runs }) =>
      runs.filter(isAtWork).map((run) => ({ ...run, title: task.title })),
    ),
    held: live.flatMap(({ task, runs }) =>
      runs
        .filter((run) => run.state === "held")
        .map(({ id, holder, since }) => ({ task: task.id, title: task.title, run: id, holder, since })),
    ),
    claimed,
    ready: ready.filter((one) => !isTaken(one.id)).map(({ id, title }) => ({ id, title })),
    recent: recentOf(events),
  };
}

/** A message to a person needs attention even while agents are at work. */
function mailFor({ task, mail }: LiveTask): Need[] {
  const [first] = mail;
  if (!first) return [];
  const more = mail.length > 1 ? ` and ${mail.length - 1} more` : "";
  const command = mail.length > 1 ? `pawl mail list ${task.id}` : `pawl mail ack ${first.id}`;
  const why = `${senderName(first)} wrote: ${firstLine(first.text, 60)}${more}`;
  const asked = { who: nameOf(first.actor), since: first.created };
  return [{ kind: "mail", task: task.id, title: task.title, run: first.run, ...asked, why, command }];
}

/** The first thing about a task that waits for a person; nothing while an agent is at work on it. */
function needsOf(
  { task, runs, reasons, touched, unchanged }: LiveTask,
  events: readonly LoggedEvent[],
): Need[] {
  if (runs.some(isAtWork)) return [];
  const own = runs.filter((run) => !startsOthers(run));
  const [worker, last] = [own.at(-1), own.filter((run) => run.state !== "held").at(-1)];
  const need = (kind: Need["kind"], why: string, command: string, asked?: Partial<Need>): Need[] => [
    {
      kind,
      task: task.id,
      title: task.title,
      run: last?.id,
      who: worker ? workerOf(worker) : nameOf(task.actor),
      since: touched,
      why,
      command,
      ...asked,
    },
  ];
  if (task.status === "blocked") {
    const blocked = events.findLast((one) => one.record.startsWith(`${task.id}@`));
    const asked = { who: nameOf(blocked?.actor ?? task.actor), since: blocked?.time ?? task.updated };
    return need("blocked", `blocked: ${task.blocker ?? ""}`, `pawl task show ${task.id}`, asked);
  }
  if (last && last.state !== "succeeded")
    return need(
      "run",
      `${last.id} ${last.state}${last.reason ? ` (${last.reason})` : ""}`,
      last.next?.command ?? "",
      { who: workerOf(last), since: last.ended ?? touched },
    );
  // Where an agent has worked, approving writes the missing handoff from its commits.
  const open = reasons.filter((one) => last === undefined || one.code !== "no_handoff");
  const [first] = open;
  if (!first && last && unchanged)
    return need("run", `${last.id} succeeded, but changed nothing`, `pawl run log ${last.id}`);
  if (!first) return need("approve", "ready, as far as pawl knows", `pawl approve ${task.id}`);
  if (first.owner === "human") return need("settle", first.code, first.command);
  // The author is done; anybody else may review it.
  if (open.every((one) => one.owner === "reviewer"))
    return need("review", "needs a reviewer other than its author", first.command);
  return last
    ? need("missing", `still missing: ${codesOf(open)}`, `pawl check ${task.id} --stage close`)
    : [];
}

const workerOf = (run: RunStanding) => run.agent ?? nameOf(run.holder);

const codesOf = (reasons: readonly { code: string }[]) =>
  [...new Set(reasons.map((one) => one.code))].slice(0, 4).join(", ");

const TOLD = ["approve", "finish", "run", "review.record", "handoff", "task.new", "start"];
const MOST_RECENT = 8;

/** What ended recently, newest first, each record once. */
function recentOf(events: readonly LoggedEvent[]): Inbox["recent"] {
  const seen = new Set<string>();
  return events
    .toReversed()
    .filter(({ event, phase, record }) => {
      const id = record.slice(0, record.indexOf("@"));
      if (!TOLD.includes(event) || phase === "before" || seen.has(id)) return false;
      seen.add(id);
      return true;
    })
    .slice(0, MOST_RECENT)
    .map(({ time, event, record, about, actor }) => ({ time, event, record, about, actor }));
}
