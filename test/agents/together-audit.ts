import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../../src/model/records/parts.ts";
import type { Run } from "../../src/model/records/run.ts";
import { type Inspection, inspectStore } from "../helpers/store-verifier.ts";
import type { RunProject } from "./supervised.ts";

/** A line of the ledger in which the agents say what they have done. */
interface Told {
  what: string;
  task: string;
  about: string;
}

const FOLDERS = {
  evidence: "evidence",
  handoff: "handoffs",
  finding: "findings",
  review: "reviews",
} as const;

/** What is not as it has to be, by name. */
type Wrong = Record<string, string[]>;

/** Compares what the agents say with what git and the records have: what they did, and how much of it is wrong. */
export function auditTogether(project: RunProject): { did: Record<string, number>; wrong: Wrong } {
  const told = readLedger(join(project.path, ".git/together"));
  const of = (what: string) => told.filter((one) => one.what === what);
  const store = inspectStore(join(project.path, ".pawl/state"));
  const commits = new Set(project.git("rev-list", "--all").split("\n"));
  const decisions = store.records.filter((one) => one.kind === "decision");
  const isDecided = ({ task, about }: Told) =>
    decisions.some(
      (one) => one.id.startsWith(`${task}/`) && JSON.stringify(one.value).includes(`Choice ${about}`),
    );
  const managers = auditManagers(of, store);
  const did = {
    commits: of("commit").length,
    records: told.length - of("commit").length - of("COLLISION").length,
    ...managers.did,
  };
  const wrong = {
    collisions: of("COLLISION").map(words),
    "commits lost": of("commit")
      .filter((one) => !commits.has(one.about))
      .map(words),
    "commits on another's branch": strangers(project),
    "decisions lost": of("decision")
      .filter((one) => !isDecided(one))
      .map(words),
    "others lost": Object.entries(FOLDERS).flatMap(([what, folder]) => fewer(of(what), folder, store)),
    ...managers.wrong,
    "records torn, doubled or without their events": complaints(store),
  };
  return { did, wrong };
}

const words = ({ what, task, about }: Told) => `${what} ${task} ${about}`;

function readLedger(file: string): Told[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.map((line) => {
    const [what = "", task = "", ...rest] = line.split(" ");
    return { what, task, about: rest.join(" ") };
  });
}

function strangers(project: RunProject): string[] {
  const branches = project.git("for-each-ref", "--format=%(refname:short)", "refs/heads/task").split("\n");
  return branches.filter(Boolean).flatMap((branch) => {
    const task = /^task\/(T\d+)/.exec(branch)?.[1] ?? "";
    const subjects = project.git("log", "--format=%s", `main..${branch}`).split("\n").filter(Boolean);
    return subjects.filter((one) => !one.startsWith(`${task} `));
  });
}

/** The tasks that have fewer records than were said. */
function fewer(said: readonly Told[], folder: string, { records }: Inspection): string[] {
  const tasks = [...new Set(said.map((one) => one.task))];
  return tasks.flatMap((task) => {
    const there = records.filter((one) => one.path.startsWith(`tasks/${task}/${folder}/`)).length;
    const wanted = said.filter((one) => one.task === task).length;
    return there < wanted ? [`${task} has ${there} of ${wanted} ${folder}`] : [];
  });
}

/** What managers started, judged and were told, and whether any of them went beyond what a human allowed. */
function auditManagers(of: (what: string) => Told[], { records }: Inspection) {
  const runs = new Map(
    records.filter((one) => one.kind === "run").map(({ id, value }) => [id, value as unknown as Run]),
  );
  const mail = records
    .filter((one) => one.kind === "message")
    .map(({ value }) => value as unknown as Message);
  const managers = [...runs.values()].filter((one) => one.role === "manager");
  const children = managers.flatMap((manager) =>
    manager.children.map((id) => ({ manager, child: runs.get(id) })),
  );
  const ends = (child: Run | undefined) =>
    (child?.attempts ?? []).filter((one) => one.ended !== undefined).length;
  const well = (role: string) =>
    [...runs.values()].filter((one) => one.role === role && one.status === "succeeded").length;
  const did = {
    "pipelines that ended well": well("conductor"),
    "managers that ended well": well("manager"),
    ...{ managers: managers.length, "their runs": children.length, settlements: of("settlement").length },
  };
  const wrong: Wrong = {
    "attempts doubled or without an end": [...runs.values()]
      .filter(
        ({ attempts }) =>
          new Set(attempts.map((one) => one.number)).size < attempts.length ||
          attempts.some((one) => one.ended === undefined),
      )
      .map((one) => one.id),
    "runs of managers lost": [
      ...children
        .filter(({ manager, child }) => child?.parent !== manager.id)
        .map(({ manager, child }) => `${manager.id} ${child?.id}`),
      ...of("child")
        .filter(({ about }) => !children.some(({ child }) => child?.id === about))
        .map(words),
    ],
    "reports missing or doubled": children.flatMap(({ child, manager }) => {
      const reports = mail.filter((one) => one.report && one.run === child?.id && one.to === manager.id);
      return reports.length === ends(child)
        ? []
        : [`${child?.id}: ${reports.length} for ${ends(child)} ends`];
    }),
    "mail lost": of("mail")
      .filter(({ about }) => !mail.some((one) => one.id === about))
      .map(words),
    "settlements lost": of("settlement")
      .filter(({ about }) => {
        const [run = "", outcome] = about.split(" ");
        return !runs.get(run)?.settled.some((one) => one.outcome === outcome);
      })
      .map(words),
    "managers beyond their envelope": managers.flatMap((one) =>
      isBeyond(
        one,
        one.children.flatMap((id) => runs.get(id) ?? []),
      )
        ? [one.id]
        : [],
    ),
  };
  return { did, wrong };
}

function isBeyond({ envelope }: Run, children: readonly Run[]): boolean {
  const attempts = children.flatMap((one) => one.attempts);
  const most = Math.max(
    0,
    ...attempts.map(
      ({ begun }) =>
        attempts.filter((one) => one.begun <= begun && (one.ended === undefined || one.ended > begun)).length,
    ),
  );
  return (
    envelope === undefined ||
    attempts.length > envelope.in_all ||
    most > envelope.at_once ||
    attempts.some((one) => !envelope.agents.includes(one.agent))
  );
}

/** Attachments such as logs and patches belong to a record and are none. */
function complaints({ violations }: Inspection): string[] {
  const { torn, duplicateIds, missingEvents, surplusEvents, leftOver } = violations;
  const ours = leftOver.filter((path) => path.startsWith(".local/"));
  return [...torn, ...duplicateIds, ...missingEvents, ...surplusEvents, ...ours];
}
