import type { Finding, Message } from "../../model/records/parts.ts";
import type { Task } from "../../model/records/task.ts";
import { firstLine } from "../../model/text.ts";
import type { LoggedEvent, TaskSummary } from "../../ports/ports.ts";
import type { ShownClaim } from "../claims.ts";
import { startsOthers } from "../current-run.ts";
import type { Reason } from "../gates/gate.ts";
import { senderName } from "../mail.ts";
import type { RunStanding } from "./standing.ts";

/** Everything about one task that is under way, as far as the records and the processes here tell. */
export interface LiveTask {
  task: Pick<Task, "id" | "title" | "status" | "blocker">;
  runs: readonly RunStanding[];
  /** What the records say is missing before it can be approved. */
  reasons: readonly Pick<Reason, "code" | "owner" | "command">[];
  findings: readonly Pick<Finding, "severity">[];
  /** What nobody has read and is for the human. */
  mail: readonly Message[];
}

/** Something that waits for a person, and the one command for it. */
export interface Need {
  /** What a person would do: read what was written to them, say yes, read, decide, look after a run, settle what only they can, or ask what is missing. */
  kind: "mail" | "approve" | "review" | "blocked" | "run" | "settle" | "missing";
  task: string;
  title: string;
  run: string | undefined;
  why: string;
  command: string;
}

export interface Inbox {
  needs_you: Need[];
  running: (RunStanding & { title: string })[];
  /** Worktrees that somebody works in by hand. */
  held: { task: string; title: string; run: string; holder: string; since: string }[];
  /** Tasks that others took, on other machines. */
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
    needs_you: live.flatMap((one) => [...mailFor(one), ...needsOf(one)]),
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

/** Whoever writes to a person waits for them, also while others are at work. */
function mailFor({ task, mail }: LiveTask): Need[] {
  const [first] = mail;
  if (!first) return [];
  const more = mail.length > 1 ? ` and ${mail.length - 1} more` : "";
  const command = mail.length > 1 ? `pawl mail list ${task.id}` : `pawl mail ack ${first.id}`;
  const why = `${senderName(first)} wrote: ${firstLine(first.text, 60)}${more}`;
  return [{ kind: "mail", task: task.id, title: task.title, run: first.run, why, command }];
}

/** The first thing that only a person can settle; nothing while somebody is working on it. */
function needsOf({ task, runs, reasons }: LiveTask): Need[] {
  if (runs.some(isAtWork)) return [];
  const last = runs.filter((run) => !startsOthers(run) && run.state !== "held").at(-1);
  const need = (kind: Need["kind"], why: string, command: string): Need[] => [
    { kind, task: task.id, title: task.title, run: last?.id, why, command },
  ];
  if (task.status === "blocked")
    return need("blocked", `blocked: ${task.blocker ?? ""}`, `pawl task show ${task.id}`);
  if (last && last.state !== "succeeded")
    return need(
      "run",
      `${last.id} ${last.state}${last.reason ? ` (${last.reason})` : ""}`,
      last.next?.command ?? "",
    );
  const [first] = reasons;
  if (!first) return need("approve", "ready, as far as pawl knows", `pawl approve ${task.id}`);
  if (first.owner === "human") return need("settle", first.code, first.command);
  // The author has done everything; whoever did not write it may read it.
  if (reasons.every((one) => one.owner === "reviewer"))
    return need("review", "needs a reviewer other than its author", first.command);
  return last
    ? need("missing", `still missing: ${codesOf(reasons)}`, `pawl check ${task.id} --stage close`)
    : [];
}

const codesOf = (reasons: readonly { code: string }[]) =>
  [...new Set(reasons.map((one) => one.code))].slice(0, 4).join(", ");

const TOLD = ["approve", "finish", "run", "review.record", "handoff", "task.new", "start"];
const MOST_RECENT = 8;

/** What came to its end lately, the latest first; each record once. */
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
