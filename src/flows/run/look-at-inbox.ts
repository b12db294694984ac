import { claimedElsewhere, lostClaims } from "../../judge/claims.ts";
import { changedNothing, hasWorktrees } from "../../judge/current-run.ts";
import { sessionGates } from "../../judge/gates/session-gates.ts";
import { isUnread } from "../../judge/mail.ts";
import { readyTasks } from "../../judge/ready.ts";
import { type Inbox, inboxOf, type LiveTask } from "../../judge/runs/inbox.ts";
import { openAttempt, standingOf } from "../../judge/runs/standing.ts";
import { LIVE } from "../../model/lifecycle.ts";
import type { Kind, Problem, ValueOf } from "../../model/record.ts";
import { evidence, finding, handoff, message, review } from "../../model/records/parts.ts";
import { run } from "../../model/records/run.ts";
import type { AttemptView } from "../../ports/agents.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Reader, World } from "../../ports/ports.ts";
import { openDependencies } from "../check/check-task.ts";

const EVENTS = 200;

/** What the processes of all open runs show; the one slow look of an inbox. */
export async function lookAtRuns(
  world: World,
  reader: Reader,
): Promise<Map<string, AttemptView | undefined>> {
  const open = liveIds(reader).flatMap((task) =>
    reader.parts(run, task).records.filter((one) => openAttempt(one.value)),
  );
  const ids = open.map((one) => one.value.id);
  const views = await world.attempts(ids);
  return new Map(ids.map((id, nth) => [id, views[nth]]));
}

const liveIds = (reader: Reader) =>
  reader
    .current()
    .tasks.filter((one) => LIVE.includes(one.status))
    .map((one) => one.id);

/** Needs you, running, ready, recent: from the records and what was seen of the processes. */
export function gatherInbox(
  reader: Reader,
  views: ReadonlyMap<string, AttemptView | undefined>,
  at: Pick<Situation, "now" | "clone">,
): { inbox: Inbox; problems: Problem[]; lost: string[] } {
  const problems: Problem[] = [...reader.current().problems];
  const live = liveIds(reader).map((id) => liveTask(reader, id, views, problems));
  const events = reader.events({ limit: EVENTS });
  const { tasks } = reader.tasks();
  const claimed = claimedElsewhere(reader, at).map((one) => ({
    ...one,
    title: tasks.find((task) => task.id === one.task)?.title ?? "",
  }));
  const inbox = inboxOf(live, readyTasks(tasks), events, claimed);
  return { inbox, problems, lost: lostClaims(reader, at) };
}

function liveTask(
  reader: Reader,
  id: string,
  views: ReadonlyMap<string, AttemptView | undefined>,
  problems: Problem[],
): LiveTask {
  const values = <K extends Kind>(kind: K): ValueOf<K>[] => {
    const read = reader.parts(kind, id);
    problems.push(...read.problems);
    return read.records.map((one) => one.value);
  };
  const task = reader.task(id).value;
  const [runs, findings, proofs] = [values(run), values(finding), values(evidence)];
  const [reviews, handoffs] = [values(review), values(handoff)];
  const place = runs.findLast(hasWorktrees);
  const { reasons } = sessionGates({
    task,
    run: place?.ended === "removed" ? undefined : place,
    findings,
    evidence: proofs,
    reviews,
    handoffs,
    authors: [],
    waitingFor: openDependencies(reader, id),
  });
  return {
    task,
    runs: runs.filter((one) => one.ended !== "removed").map((one) => standingOf(one, views.get(one.id))),
    reasons,
    unchanged: place !== undefined && changedNothing(place),
    findings: findings.filter((one) => one.status === "open"),
    mail: values(message).filter((one) => one.to === "human" && isUnread(one)),
    touched: latestOf([task, ...runs, ...findings, ...proofs, ...reviews, ...handoffs]),
  };
}

const latestOf = (all: readonly { updated: string }[]) =>
  all
    .map((one) => one.updated)
    .sort()
    .at(-1) ?? "";
