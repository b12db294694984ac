// @module-tag long
import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attemptNumbers, owners, readExit, readGuard, readSpec } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { parseIdentity, seeProcesses } from "../../src/files/process-identity.ts";
import { SECONDS } from "../helpers/long-runs.ts";
import { makeRunProject, type RunProject } from "./supervised.ts";
import AGENT from "./together-agent.sh";
import { auditTogether } from "./together-audit.ts";

/**
 * Single runs, pipelines and managers at once in one repository, while supervisors, guards, agents, whatever agents have
 * started, conductors and the commands that start, resume and end them are killed at random. What the agents say in a ledger of
 * their own is compared with what git and the records have. What each kill leaves is tried one by one in test/ops/run*.test.ts and in test/crash/.
 */
const [SINGLES, PIPELINES, MANAGERS] = [5, 3, 2];
type Kind = "single" | "pipeline" | "manager";
/** How each is started; a manager has three parts done, one of which fails at first. */
const MODES: Readonly<Record<Kind, string[]>> = {
  single: ["--time", "5m"],
  pipeline: ["--time", "5m", "--mode", "pipeline", "--reviewer", "critic"],
  manager: [
    ...["--time", "10m", "--mode", "manager", "--agents", "writer,broken"],
    ...["--at-once", "2", "--in-all", "8"],
  ],
};
/** Who leads the others of its kind, where somebody does. */
const LEADERS: Readonly<Partial<Record<Kind, string>>> = { pipeline: "conductor", manager: "manager" };
/** How often what was cut off is begun again before it is left to a person; a manager is there for longest. */
const RESUMES: Readonly<Record<Kind, number>> = { single: 4, pipeline: 4, manager: 15 };

let project: RunProject;
let runs: string;
const done = {
  tasks: 0,
  resumes: 0,
  finished: 0,
  supervisors: 0,
  guards: 0,
  both: 0,
  agents: 0,
  commands: 0,
};
const any = (below: number) => Math.floor(Math.random() * below);

beforeAll(() => {
  const agents = ["writer", "critic"].map((name) => `  ${name}:\n    command: [sh, agent.sh]\n`);
  const config = `checks:\n  test: test -n "$(git log -1 --format=%s)"\nagents:\n${agents.join("")}  broken:\n    command: ['false']\n`;
  project = makeRunProject("together", undefined, config, { "agent.sh": AGENT });
  project.env.PAWL = join(project.path, ".pawl/pawl.cjs");
  runs = join(project.path, ".git/pawl/runs");
});
// After an hour there are a thousand attempts to look for leftovers of.
afterAll(() => project.remove(), 900_000);

/** A command as a person types it, whom the machine may fail at any moment. */
async function pawl(mayDie: boolean, ...argv: string[]): Promise<{ code: number; json: Json } | undefined> {
  let child: ChildProcess | undefined;
  const ending = new Promise<{ code: number; json: Json }>((over) => {
    const options = { cwd: project.path, env: project.env, encoding: "utf8" as const };
    child = execFile(process.execPath, [project.env.PAWL ?? "", ...argv, "--json"], options, (error, out) => {
      over({ code: error ? Number(error.code ?? 70) : 0, json: out === "" ? undefined : JSON.parse(out) });
    });
  });
  const dies = mayDie && any(6) === 0;
  const killing = dies && setTimeout(() => child?.kill("SIGKILL") && done.commands++, 50 + any(600));
  const result = await ending;
  if (killing) clearTimeout(killing);
  return result.json === undefined ? undefined : result;
}
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
type Json = any;

/** Takes one task after the other to an end of its own, resuming what was cut off. */
async function work(kind: Kind, isOver: () => boolean): Promise<void> {
  do {
    const made = await pawl(false, "task", "new", `A ${kind} ${++done.tasks}`);
    const task: string = made?.json.data.task.id;
    await pawl(true, "run", task, "--agent", "writer", ...MODES[kind]);
    await untilDone(task, kind);
    if (kind === "single" && any(3) === 0) {
      await pawl(true, "finish", task, "--remove", "--reason", "enough");
      done.finished++;
    }
  } while (!isOver());
}

async function untilDone(task: string, kind: Kind): Promise<void> {
  for (let resumed = 0; ; ) {
    const listed = await pawl(true, "run", "list", task);
    const mine: Json[] = listed?.json.data?.runs ?? [];
    const leader = LEADERS[kind];
    const [run] = mine.filter((one) => one.state !== "held" && (leader === undefined || one.role === leader));
    if (listed && !run) {
      // Whoever was to start it was killed before it had written that down.
      if (resumed++ >= RESUMES[kind]) return;
      await pawl(true, "run", task, "--agent", "writer", ...MODES[kind]);
    } else if (run?.state === "interrupted" && resumed < RESUMES[kind]) {
      resumed++;
      done.resumes++;
      // Two people, or one who is impatient.
      const calls = Array.from({ length: any(4) === 0 ? 2 : 1 }, () => pawl(true, "run", "resume", run.id));
      await Promise.all(calls);
    } else if (["succeeded", "failed", "interrupted"].includes(run?.state)) return;
    else await pawl(true, "run", "wait", task, "--for", "5s");
  }
}

function openAttempts(): string[] {
  const names = existsSync(runs) ? readdirSync(runs).filter((name) => /^T\d+\.R\d+$/.test(name)) : [];
  return names.flatMap((name) => {
    const number = attemptNumbers(join(runs, name)).at(-1);
    const path = join(runs, name, `a${number}`);
    return number === undefined || readExit(path) || !readSpec(path) ? [] : [path];
  });
}

async function killer(isOver: () => boolean): Promise<void> {
  for (; !isOver(); await sleep(300 + any(2_000))) {
    const open = openAttempts();
    const path = open[any(open.length)];
    const mark = path === undefined ? undefined : readSpec(path)?.mark;
    if (path === undefined || mark === undefined) continue;
    const owner = parseIdentity(owners(path).at(-1) ?? "");
    const supervisor = owner && seeProcesses().livenessOf(owner) === "alive" ? owner.pid : 0;
    const guard = readGuard(path);
    const marked = markedProcesses(mark).filter(({ pid }) => pid !== guard);
    const victims = {
      supervisors: [supervisor],
      guards: [guard],
      both: [supervisor, guard],
      agents: [marked[any(marked.length)]?.pid ?? 0],
    };
    const kinds = Object.keys(victims) as (keyof typeof victims)[];
    const kind = kinds[any(kinds.length)] ?? "both";
    if (victims[kind].some((pid) => pid <= 1)) continue;
    for (const pid of victims[kind]) send(pid, "SIGKILL");
    done[kind]++;
  }
}

const named = (one: Json) => JSON.stringify(one).slice(0, 300);

async function complaintOf(command: string): Promise<string> {
  const said = await pawl(false, command);
  return said?.code === 0 ? "" : `${command}: ${named(said)}`;
}

/** Nobody is at work any more, and whatever a kill left is settled by ordinary commands. */
async function settle(): Promise<void> {
  for (const end = Date.now() + 180_000; openAttempts().length > 0 && Date.now() < end; await sleep(500))
    await pawl(false, "run", "list");
  await pawl(false, "run", "list");
  // Whoever writes clears away the lock of somebody who died, and whoever reads does not.
  await pawl(false, "note", "add", "It is over", "--text", "Nobody is running.");
}

test(
  `${SINGLES} runs, ${PIPELINES} pipelines and ${MANAGERS} managers at once, with kills for ${SECONDS} s: nothing collides or is lost`,
  async () => {
    const main = project.git("rev-parse", "main");
    const end = Date.now() + SECONDS * 1_000;
    const isOver = () => Date.now() > end;
    const killing = killer(isOver);
    const kinds = [
      ...Array(SINGLES).fill("single"),
      ...Array(PIPELINES).fill("pipeline"),
      ...Array(MANAGERS).fill("manager"),
    ];
    await Promise.all(kinds.map((kind) => work(kind, isOver)));
    await killing;
    await settle();

    const found = auditTogether(project);
    const { tasks } = (await pawl(false, "task", "list"))?.json.data ?? { tasks: [] };
    const nameless: string[] = [];
    for (const { id } of tasks) {
      const next = (await pawl(false, "session", id))?.json.next?.command;
      if (typeof next !== "string" || !next.startsWith("pawl ")) nameless.push(id);
    }
    const { inbox } = (await pawl(false, "inbox"))?.json.data ?? {};
    const marks = existsSync(runs)
      ? readdirSync(runs).flatMap((name) =>
          attemptNumbers(join(runs, name)).flatMap(
            (one) => readSpec(join(runs, name, `a${one}`))?.mark ?? [],
          ),
        )
      : [];
    const did: Record<string, number> = {
      ...{ seconds: SECONDS, ...done, attempts: marks.length, ...found.did },
    };
    const wrong: Record<string, string[]> = {
      ...found.wrong,
      orphans: marks.filter((mark) => markedProcesses(mark).length > 0),
      "runs not written down": readdirSync(join(runs, "open")),
      "tasks without a next command": nameless,
      "in the inbox without a command": inbox.needs_you.filter((one: Json) => !one.command).map(named),
      "still running in the inbox": inbox.running.map(named),
      "main moved": [project.git("rev-parse", "main")].filter((tip) => tip !== main),
      "pawl audit and pawl doctor": [await complaintOf("audit"), await complaintOf("doctor")].filter(Boolean),
    };
    const counts = Object.entries(wrong).map(([name, found]) => [name, found.length]);
    console.table({ ...did, ...Object.fromEntries(counts) });
    expect(Object.fromEntries(Object.entries(wrong).filter(([, found]) => found.length > 0))).toEqual({});
    expect(did.records).toBeGreaterThan(0);
    expect(did["their runs"]).toBeGreaterThan(0);
  },
  (SECONDS * 2 + 600) * 1_000,
);
