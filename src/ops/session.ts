import * as z from "zod/mini";
import { openDependencies } from "../flows/check/check-task.ts";
import { lostClaims } from "../judge/claims.ts";
import { latestPlace } from "../judge/current-run.ts";
import type { RecordFacts } from "../judge/gates/facts.ts";
import { sessionGates } from "../judge/gates/session-gates.ts";
import { readingOf, unreadFor } from "../judge/mail.ts";
import { nextStep } from "../judge/next-step.ts";
import { readyTasks } from "../judge/ready.ts";
import { type Loaded, type NothingLoaded, withinBudget } from "../judge/session/text.ts";
import { holds, othersUnderWay, placesUnderWay, sessionTask } from "../judge/session/whose.ts";
import { taskOf } from "../model/ids.ts";
import { count, maybe, taskField } from "../model/input.ts";
import {
  decision,
  type Evidence,
  evidence,
  type Finding,
  finding,
  type Handoff,
  handoff,
  type Review,
  review,
} from "../model/records/parts.ts";
import { type Run, run } from "../model/records/run.ts";
import type { Task } from "../model/records/task.ts";
import { firstFew, firstLine, onOneLine, warningsOf } from "../model/text.ts";
import type { Next } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { operation } from "./operation.ts";

/** What an agent pays for knowing where it is. */
const MOST_TOKENS = 400;
/** Less than this would not hold the task, a finding and the next step. */
const FEWEST_TOKENS = 200;

export const session = operation({
  id: "session",
  summary:
    "Load the session: task, worktree, holder, verdicts, findings, mail, changed files, handoff, next step",
  details:
    "With several active tasks it shows the one whose worktree you are in, else the one this session holds; the\nothers are listed with their holders. Changed files are what git sees in the task's worktrees.",
  examples: ["pawl session", "pawl session T0001 --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    budget: maybe(
      count(`at most this many tokens (default: ${MOST_TOKENS}; bytes ÷ 4)`, "TOKENS", FEWEST_TOKENS),
    ),
  }),

  async observe(world, input, at, reader) {
    const { id } = sessionTask(reader, input.task, at);
    const current = id === undefined || !reader.hasTask(id) ? undefined : readableRun(reader, id);
    const places = id !== undefined && current ? await world.changedPlaces(id, current.repos) : [];
    const landed = await world.landed(id === undefined ? [] : placesUnderWay(reader, reader.live(), id));
    return {
      landed: [...landed.values()][0],
      unguarded: [
        ...(await world.guardWarnings()),
        ...straysLine(await world.strays(), id),
        ...goneLine(current, places, at.clone),
      ],
      places,
    };
  },

  gather(reader, input, at, { unguarded, places, landed }) {
    const which = sessionTask(reader, input.task, at);
    const told = [...lostClaims(reader, at), ...unguarded];
    const underWay = othersUnderWay(reader, which.id, at);
    if (which.id === undefined) {
      const ready = readyTasks(reader.tasks().tasks);
      return { task: undefined, which, underWay, waits: reader.waits(), ready, unguarded: told };
    }
    return {
      unguarded: told,
      places,
      underWay,
      landed,
      task: reader.task(which.id).value,
      findings: reader.parts(finding, which.id),
      decisions: reader.parts(decision, which.id),
      handoffs: reader.parts(handoff, which.id),
      evidence: reader.parts(evidence, which.id),
      reviews: reader.parts(review, which.id),
      runs: reader.parts(run, which.id),
      mail: unreadFor(reader, readingOf(reader, which.id, at)),
      waitingFor: openDependencies(reader, which.id),
      touched: reader.touched(which.id),
    };
  },

  decide(input, facts, at) {
    const budget = input.budget ?? MOST_TOKENS;
    const { unguarded } = facts;
    if (facts.task === undefined)
      return { data: { session: none(facts, budget) }, next: nextWithoutTask(facts), warnings: unguarded };
    const { task, places, underWay } = facts;
    const open = facts.findings.records.map((one) => one.value).filter((one) => one.status === "open");
    const last = facts.handoffs.records.at(-1)?.value;
    const { findings, decisions, handoffs, evidence: proofs, reviews, runs } = facts;
    const problems = [findings, decisions, handoffs, proofs, reviews, runs].flatMap((one) => one.problems);
    const known = recordFacts(task, facts);
    const holder = known.run?.holder;
    const session: Loaded = {
      task,
      worktrees: places.map(({ repo, path }) => ({ repo, path })),
      here: at.bound === task.id,
      merged_elsewhere: facts.landed,
      holder,
      yours: holds(holder, at),
      others: underWay,
      // A record that cannot be read could be the one that stands in the way: then there is nothing to tell.
      gates: problems.length > 0 ? undefined : sessionGates(known),
      verdicts: verdictsOf(values(reviews)),
      findings: open,
      decisions: values(decisions),
      mail: facts.mail,
      handoff: last,
      touched: [...new Set([...places.flatMap(namedFiles), ...facts.touched])],
      budget,
    };
    return {
      data: { session },
      next: facts.landed === undefined ? nextStep(task, open, last, values(proofs)) : endOf(task.id),
      warnings: [...unguarded, ...warningsOf(problems)],
    };
  },

  text: ({ session: loaded }, style) => withinBudget(loaded, style),
});

const endOf = (task: string): Next => ({
  command: `pawl finish ${task}`,
  reason: "the base already has its work: this ends it",
});

function straysLine(files: readonly string[], task: string | undefined): string[] {
  if (files.length === 0) return [];
  const shown = firstFew(files.map(onOneLine), 5);
  return [
    `An agent's commands changed files of the main checkout: ${shown}. Move them into the task's worktree: pawl rescue ${task ?? "T"}`,
  ];
}

/** Worktrees of this clone that the records know of, and git does not. */
function goneLine(current: Run | undefined, places: readonly { repo: string }[], clone: string): string[] {
  if (!current || current.clone !== clone || current.status === "starting") return [];
  const gone = current.repos.filter((repo) => !places.some((one) => one.repo === repo.name));
  const task = taskOf(current.id);
  return gone.map((one) => `${one.worktree} is gone. To recreate it: pawl start ${task} --claim`);
}

/** `gather` reports a record that cannot be read; here it only means that git is not asked. */
const readableRun = (reader: Reader, id: string): Run | undefined =>
  latestPlace(reader.parts(run, id).records)?.value;

/** With several repositories a file is called by both names. */
function namedFiles(
  { repo, files }: { repo: string; files: string[] },
  _at: number,
  all: readonly unknown[],
): string[] {
  return all.length > 1 ? files.map((file) => `${repo}: ${file}`) : files;
}

/** The latest review of each kind; one by an author was recorded and says nothing. */
function verdictsOf(reviews: readonly Review[]) {
  const latest = (["plan", "branch"] as const).map((kind) =>
    reviews.findLast((one) => one.kind === kind && one.counts),
  );
  return latest
    .filter((one) => one !== undefined)
    .map(({ id, kind, verdict, actor }) => ({ id, kind, verdict, actor }));
}

interface Parts {
  findings: { records: { value: Finding }[] };
  handoffs: { records: { value: Handoff }[] };
  evidence: { records: { value: Evidence }[] };
  reviews: { records: { value: Review }[] };
  runs: { records: { value: Run }[] };
  waitingFor: string[];
}

const values = <T>({ records }: { records: { value: T }[] }): T[] => records.map((one) => one.value);

function recordFacts(task: Task, parts: Parts): RecordFacts {
  return {
    task,
    run: latestPlace(parts.runs.records)?.value,
    findings: values(parts.findings),
    evidence: values(parts.evidence),
    reviews: values(parts.reviews),
    handoffs: values(parts.handoffs),
    // Who wrote it is worked out by `pawl check`; a review that did not count when it was recorded is known here too.
    authors: [],
    waitingFor: parts.waitingFor,
  };
}

type NoTask = {
  waits: boolean;
  which: { why?: string; candidates?: { id: string; title: string }[] };
  underWay: NothingLoaded["under_way"];
  ready: { id: string; title: string }[];
};

function none({ which, underWay, ready }: NoTask, budget: number): Loaded {
  const name = (one: { id: string; title: string }) => `${one.id} ${firstLine(one.title, 60)}`;
  return {
    task: null,
    why: which.why ?? "",
    under_way: underWay,
    candidates: (which.candidates ?? []).slice(0, 10).map(name),
    ready: ready.slice(0, 5).map(name),
    budget,
  };
}

function nextWithoutTask({ which, waits, ready }: NoTask): Next {
  if (waits) return { command: "pawl sync", reason: "the remote has this project's state" };
  const [first] = which.candidates ?? [];
  if (first) return { command: `pawl session ${first.id}`, reason: "name the task you are working on" };
  const [open] = ready;
  if (open) return { command: `pawl task show ${open.id}`, reason: "the oldest task that is ready to start" };
  return {
    command: 'pawl start "<title>"',
    reason: "creates a task with its branch and worktree",
  };
}
