import { addPart, change, madeNow } from "../../judge/change.ts";
import { judgeOutcome, type Outcome, ofReason } from "../../judge/runs/outcome.ts";
import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { logFile } from "../../model/paths.ts";
import type { RunAttempt } from "../../model/records/attempt.ts";
import { evidence, type Handoff, handoff, review } from "../../model/records/parts.ts";
import { type Run, type RunRepo, type RunSnapshot, run } from "../../model/records/run.ts";
import { redact } from "../../model/redact.ts";
import { plural } from "../../model/text.ts";
import type { EndedAttempt } from "../../ports/agents.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Effect, Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { takeSnapshot } from "../snapshot/take-snapshot.ts";
import { childLines, manageReasons } from "./run-children.ts";
import { automaticHandoff } from "./run-handoff.ts";
import { storedRun, withSession } from "./run-records.ts";
import { reportTo } from "./run-report.ts";

/** What was seen of the work when an attempt ended. */
export interface EndFacts {
  outcome: Outcome;
  ended: EndedAttempt | undefined;
  heads: { repo: string; head: string | undefined; changed: string[]; isDirty: boolean | undefined }[];
  snapshots: RunSnapshot[];
  /** The log that people read, as a file to attach. */
  log: string | undefined;
  at: string | undefined;
}

/**
 * Writes the end of an attempt down: outcome, usage, the saved work, the log's tail, and a handoff where the agent left
 * none. One change of the store; whoever comes later finds it done.
 */
export async function endAttempt(
  hands: Hands,
  value: Run,
  attempt: RunAttempt,
  ended: EndedAttempt | undefined,
): Promise<Run> {
  const outcome = await accountedFor(hands, value, outcomeOf(attempt, ended));
  const snapshots = await saveWork(hands, value);
  const facts: EndFacts = {
    outcome,
    ended,
    snapshots,
    at: ended?.exit.at,
    heads: await Promise.all(value.repos.map((repo) => lookAtHead(hands, repo))),
    log: ended && ended.tail !== "" ? await keepLog(hands, value, ended.tail) : undefined,
  };
  const { data } = await hands.record(
    (reader, at) => recordEnd(reader, at, value.id, attempt.number, facts),
    {
      phase: outcome.status === "succeeded" ? "after" : "failed",
      milestone: `${value.id}: ${outcome.status}${outcome.reason === undefined ? "" : ` (${outcome.reason})`}`,
    },
  );
  return data;
}

function outcomeOf(attempt: RunAttempt, ended: EndedAttempt | undefined): Outcome {
  if (!ended) return { status: "interrupted", reason: "never_started" };
  const { verdict, denied } = ended.progress;
  const seen = judgeOutcome({ ...ended, verdict, denied });
  // A conductor says why it ends before it does; its exit code only says that it was not well.
  return seen.reason === "exit" && attempt.reason !== undefined ? ofReason(attempt.reason) : seen;
}

/** A manager that leaves something of what it started unsettled has not done its part, whatever its program says. */
async function accountedFor(hands: Hands, { id, role }: Run, outcome: Outcome): Promise<Outcome> {
  if (role !== "manager" || outcome.status !== "succeeded") return outcome;
  const left = await hands.look((reader) => manageReasons(reader, taskOf(id)));
  return left.length === 0 ? outcome : { status: "failed", reason: "unsettled" };
}

/** A failure to save is reported; it does not hide how the run ended. */
async function saveWork(hands: Hands, value: Run): Promise<RunSnapshot[]> {
  if (value.repos.length === 0) return [];
  try {
    const { saved, warnings } = await takeSnapshot(hands, taskOf(value.id));
    for (const warning of warnings) hands.say(warning);
    return saved;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    hands.say(`The work of ${value.id} could not be saved: ${error.message}`);
    return [];
  }
}

async function lookAtHead(hands: Hands, repo: RunRepo): Promise<EndFacts["heads"][number]> {
  const [branches, worktrees, sites] = [
    await hands.git.branches(),
    await hands.git.worktrees(),
    await hands.git.sites(),
  ];
  const look = { repo: repo.name, head: branches.tip(repo), changed: [], isDirty: undefined };
  try {
    const path = sites.locate(sites.named(repo.name), repo.worktree);
    return { ...look, changed: await branches.changes(repo), isDirty: await worktrees.isDirty(path) };
  } catch (error) {
    if (error instanceof Failure) return look;
    throw error;
  }
}

async function keepLog(hands: Hands, value: Run, tail: string): Promise<string> {
  const sites = (await hands.git.sites()).all();
  const folders = sites.flatMap(({ name, mainRoot, commonDir }) => [
    ...(mainRoot === undefined ? [] : [{ path: mainRoot, name }]),
    { path: commonDir, name: `${name}/.git` },
  ]);
  return (await hands.agents()).keep(value.id, `${redact(tail, { folders })}\n`);
}

function recordEnd(reader: Reader, at: Situation, id: string, number: number, facts: EndFacts): Plan<Run> {
  const stored = storedRun(reader, id);
  const { value } = stored;
  const attempt = value.attempts.find((one) => one.number === number);
  if (!attempt || attempt.ended !== undefined) return { data: value };
  const now = endedAttempt(attempt, facts, at);
  const task = taskOf(id);
  const attached: Effect[] =
    facts.log === undefined
      ? []
      : [
          {
            do: "attach",
            record: id,
            rev: value.rev + 1,
            from: facts.log,
            about: "the end of its log",
            path: logFile(task, partOf(id)),
          },
        ];
  const repos = value.repos.map((repo) => ({
    ...repo,
    head: facts.heads.find((one) => one.repo === repo.name)?.head ?? repo.head,
  }));
  const changed = change(
    run,
    stored,
    {
      status: facts.outcome.status,
      holder: withSession(value.holder, now.session),
      exit_code: now.exit_code,
      attempts: value.attempts.map((one) => (one === attempt ? now : one)),
      repos,
      ...(facts.log === undefined ? {} : { log: "log.txt" }),
      ...(value.within === undefined ? {} : { snapshots: facts.snapshots }),
    },
    at,
    `attempt ${number} ${facts.outcome.status}${facts.outcome.reason ? `: ${facts.outcome.reason}` : ""}`,
  );
  const left = handoffOf(reader, at, value, now, facts);
  const report = reportTo(reader, at, value, now, facts, left.handoff);
  return { data: changed.value, effects: [...attached, changed.effect, ...left.effects, ...report] };
}

function endedAttempt(
  attempt: RunAttempt,
  { outcome, ended, at: over }: EndFacts,
  at: Situation,
): RunAttempt {
  const known = { ...attempt, ...outcome, ended: over ?? at.now };
  if (!ended) return known;
  const { progress, cost, exit } = ended;
  const used = progress.tokens.input + progress.tokens.output > 0;
  return {
    ...known,
    session: progress.session ?? attempt.session,
    model: progress.model ?? attempt.model,
    exit_code: exit.code,
    seconds: ended.elapsed,
    ...(progress.turns > 0 ? { turns: progress.turns } : {}),
    ...(used
      ? {
          input_tokens: progress.tokens.input,
          cached_tokens: progress.tokens.cached,
          output_tokens: progress.tokens.output,
        }
      : {}),
    ...(cost ? { cost: cost.dollars.toFixed(6), cost_from: cost.from } : {}),
  };
}

/** The agent's own words are better than anything we could say; without them, what was seen is all there is. */
function handoffOf(
  reader: Reader,
  at: Situation,
  value: Run,
  attempt: RunAttempt,
  facts: EndFacts,
): { handoff: Handoff | undefined; effects: Effect[] } {
  const task = taskOf(value.id);
  const isOwn = (one: { run?: string | undefined; actor: string; created: string }) =>
    one.created >= attempt.begun && (one.run === value.id || one.actor === value.holder);
  const left = reader.parts(handoff, task).records.findLast((one) => isOwn(one.value))?.value;
  const judged = reader.parts(review, task).records.some((one) => isOwn(one.value));
  if (value.role === "conductor" || left || (judged && value.role === "reviewer"))
    return { handoff: left, effects: [] };
  const proofs = reader
    .parts(evidence, task)
    .records.map((one) => one.value)
    .filter((one) => one.run === value.id && one.created >= attempt.begun);
  const words = {
    ...automaticHandoff(value, attempt, facts, proofs),
    children: childLines(reader, value.id),
  };
  const made = addPart(
    handoff,
    task,
    reader.partNames(handoff, task),
    (id) => ({ id, run: value.id, automatic: true, from_commits: false, ...madeNow(at), ...words }),
    `automatic: ${plural(words.changed.length, "file")}`,
  );
  return { handoff: made.value, effects: [made.effect] };
}
