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

/** Compares what the agents say with what git and the records have: what they did, and how much of it is wrong. */
export function auditTogether(project: RunProject) {
  const told = readLedger(join(project.path, ".git/together"));
  const of = (what: string) => told.filter((one) => one.what === what);
  const store = inspectStore(join(project.path, ".pawl/state"));
  const commits = new Set(project.git("rev-list", "--all").split("\n"));
  const decisions = store.records.filter((one) => one.kind === "decision");
  const managers = auditManagers(of, store);
  const did = {
    commits: of("commit").length,
    records: told.length - of("commit").length - of("COLLISION").length,
    ...managers.did,
  };
  const wrong = {
    collisions: of("COLLISION").length,
    "commits lost": of("commit").filter((one) => !commits.has(one.about)).length,
    "commits on another's branch": strangers(project).length,
    "decisions lost": of("decision").filter(
      ({ task, about }) =>
        !decisions.some(
          (one) => one.id.startsWith(`${task}/`) && JSON.stringify(one.value).includes(`Choice ${about}`),
        ),
    ).length,
    "others lost": Object.entries(FOLDERS).reduce(
      (sum, [what, folder]) => sum + fewer(of(what), folder, store),
      0,
    ),
    ...managers.wrong,
    "records torn, doubled or without their events": countComplaints(store),
  };
  return { did, wrong };
}

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

/** By how many a task has fewer records than were said. */
function fewer(said: readonly Told[], folder: string, { records }: Inspection): number {
  const tasks = [...new Set(said.map((one) => one.task))];
  return tasks.reduce((sum, task) => {
    const there = records.filter((one) => one.path.startsWith(`tasks/${task}/${folder}/`)).length;
    return sum + Math.max(0, said.filter((one) => one.task === task).length - there);
  }, 0);
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
  const wrong = {
    "attempts doubled or without an end": [...runs.values()].filter(
      ({ attempts }) =>
        new Set(attempts.map((one) => one.number)).size < attempts.length ||
        attempts.some((one) => one.ended === undefined),
    ).length,
    "runs of managers lost":
      children.filter(({ manager, child }) => child?.parent !== manager.id).length +
      of("child").filter(({ about }) => !children.some(({ child }) => child?.id === about)).length,
    "reports missing or doubled": children.filter(
      ({ child, manager }) =>
        mail.filter((one) => one.report && one.run === child?.id && one.to === manager.id).length !==
        ends(child),
    ).length,
    "mail lost": of("mail").filter(({ about }) => !mail.some((one) => one.id === about)).length,
    "settlements lost": of("settlement").filter(({ about }) => {
      const [run = "", outcome] = about.split(" ");
      return !runs.get(run)?.settled.some((one) => one.outcome === outcome);
    }).length,
    "managers beyond their envelope": managers.filter((one) =>
      isBeyond(
        one,
        one.children.flatMap((id) => runs.get(id) ?? []),
      ),
    ).length,
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
function countComplaints({ violations }: Inspection): number {
  const leftOver = violations.leftOver.filter((path) => path.startsWith(".local/"));
  const { torn, duplicateIds, missingEvents, surplusEvents } = violations;
  const all = [...torn, ...duplicateIds, ...missingEvents, ...surplusEvents, ...leftOver];
  if (all.length > 0) console.log(all.slice(0, 50).join("\n"));
  return all.length;
}
