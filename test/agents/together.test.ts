import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attemptNumbers, owners, readExit, readGuard, readSpec } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { parseIdentity, seeProcesses } from "../../src/files/process-identity.ts";
import { makeRunProject, type RunProject } from "./supervised.ts";

/**
 * Single runs and pipelines at once in one repository, while supervisors, guards, agents, conductors and the commands
 * that start, resume and end them are killed at random. What the agents say in a ledger of their own is compared with what
 * git and the records have. Only `npm run soak -- together` does it: for an hour, or for as long as it is told. What each kill
 * leaves is tried one by one in test/ops/run.test.ts, test/ops/run-pipeline.test.ts and test/crash/run-crash.test.ts.
 */
const SECONDS = Number(process.env.PAWL_SOAK_SECONDS ?? 0);
const [SINGLES, PIPELINES] = [6, 4];
/** How often what was cut off is begun again before it is left to a person. */
const RESUMES = 4;

const AGENT = `
prompt=$(cat)
ledger="$(git rev-parse --path-format=absolute --git-common-dir)/together"
say() { echo "$*" >> "$ledger"; }
pawl() { node "$PAWL" "$@" < /dev/null; }
busy="$(git rev-parse --git-dir)/busy"
[ -f "$busy" ] && grep -qz PAWL_ATTEMPT= "/proc/$(cat "$busy")/environ" 2>/dev/null && say "COLLISION $PAWL_TASK $PAWL_RUN"
echo $$ > "$busy"
work() {
  for nth in 1 2; do
    echo "$1 $nth" >> "$PAWL_TASK.txt"
    git add -A && git commit -qm "$PAWL_TASK $1 $nth" && say "commit $PAWL_TASK $(git rev-parse HEAD)"
    pawl decide "Choice $nth of $PAWL_RUN by $$" --why "asked to" && say "decision $PAWL_TASK $nth of $PAWL_RUN by $$"
    sleep 0.3
  done
}
hand_over() {
  pawl verify && say "evidence $PAWL_TASK"
  pawl handoff --what "$1" --next "look at it" && say "handoff $PAWL_TASK"
}
case "$prompt" in
  "You are the author of "*) echo bug > "$PAWL_TASK.bug"; work author; hand_over written ;;
  "You review "*)
    verdict=pass
    if [ -s "$PAWL_TASK.bug" ]; then
      verdict=fail
      pawl finding add "A bug" --severity high --kind branch --file "$PAWL_TASK.bug" --line 1 && say "finding $PAWL_TASK"
    fi
    pawl review record --kind branch --verdict $verdict --looked-at "$PAWL_TASK.txt" && say "review $PAWL_TASK" ;;
  "You fix "*)
    : > "$PAWL_TASK.bug"; work fixer
    for id in $(pawl finding list --status open --json | node -e 'for (const one of JSON.parse(require("fs").readFileSync(0)).data.findings) console.log(one.id)'); do
      pawl finding resolve "$id"
    done
    hand_over fixed ;;
esac
rm -f "$busy"
`;

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
  const config =
    'checks:\n  test: test -n "$(git log -1 --format=%s)"\nagents:\n  writer:\n    command: [sh, agent.sh]\n  critic:\n    command: [sh, agent.sh]\n';
  project = makeRunProject("together", undefined, config, { "agent.sh": AGENT });
  project.env.PAWL = join(project.path, ".pawl/pawl.cjs");
  runs = join(project.path, ".git/pawl/runs");
});
afterAll(() => project.remove());

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
async function work(kind: "single" | "pipeline", isOver: () => boolean): Promise<void> {
  do {
    const made = await pawl(false, "task", "new", `A ${kind} ${++done.tasks}`);
    const task: string = made?.json.data.task.id;
    const mode = kind === "pipeline" ? ["--mode", "pipeline", "--reviewer", "critic"] : [];
    await pawl(true, "run", task, "--agent", "writer", "--time", "5m", ...mode);
    await untilDone(task, kind);
    if (kind === "single" && any(3) === 0) {
      await pawl(true, "finish", task, "--remove", "--reason", "enough");
      done.finished++;
    }
  } while (!isOver());
}

async function untilDone(task: string, kind: "single" | "pipeline"): Promise<void> {
  for (let resumed = 0; ; ) {
    const listed = await pawl(true, "run", "list", task);
    const mine: Json[] = listed?.json.data?.runs ?? [];
    const lead = kind === "pipeline" ? mine.filter((one) => one.role === "conductor") : mine;
    const [run] = lead.filter((one) => one.state !== "held");
    if (listed && !run) {
      // Whoever was to start it was killed before it had written that down.
      if (resumed++ >= RESUMES) return;
      const mode = kind === "pipeline" ? ["--mode", "pipeline", "--reviewer", "critic"] : [];
      await pawl(true, "run", task, "--agent", "writer", "--time", "5m", ...mode);
    } else if (run?.state === "interrupted" && resumed < RESUMES) {
      resumed++;
      done.resumes++;
      await pawl(true, "run", "resume", run.id);
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
    const [agent] = markedProcesses(mark).filter(({ pid }) => pid !== guard);
    const victims = {
      supervisors: [supervisor],
      guards: [guard],
      both: [supervisor, guard],
      agents: [agent?.pid ?? 0],
    };
    const kinds = Object.keys(victims) as (keyof typeof victims)[];
    const kind = kinds[any(kinds.length)] ?? "both";
    if (victims[kind].some((pid) => pid <= 1)) continue;
    for (const pid of victims[kind]) send(pid, "SIGKILL");
    done[kind]++;
  }
}

interface Told {
  what: string;
  task: string;
  about: string;
}

function audit() {
  const file = join(project.path, ".git/together");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  const told = lines.map((line): Told => {
    const [what = "", task = "", ...rest] = line.split(" ");
    return { what, task, about: rest.join(" ") };
  });
  const texts = (task: string, folder: string) => {
    const path = join(project.path, ".pawl/state/tasks", task, folder);
    return existsSync(path) ? readdirSync(path).map((name) => readFileSync(join(path, name), "utf8")) : [];
  };
  const commits = new Set(project.git("rev-list", "--all").split("\n"));
  const count = (what: string, task: string) =>
    told.filter((one) => one.what === what && one.task === task).length;
  const tasks = [...new Set(told.map((one) => one.task))];
  const fewer = (what: string, folder: string) =>
    tasks.reduce((sum, task) => sum + Math.max(0, count(what, task) - texts(task, folder).length), 0);
  const branches = project.git("for-each-ref", "--format=%(refname:short)", "refs/heads/task").split("\n");
  const strangers = branches.filter(Boolean).flatMap((branch) => {
    const task = /^task\/(T\d+)/.exec(branch)?.[1] ?? "";
    const subjects = project.git("log", "--format=%s", `main..${branch}`).split("\n").filter(Boolean);
    return subjects.filter((one) => !one.startsWith(`${task} `));
  });
  return {
    commits: told.filter((one) => one.what === "commit").length,
    records: told.filter((one) => !["commit", "COLLISION"].includes(one.what)).length,
    collisions: told.filter((one) => one.what === "COLLISION").length,
    "commits lost": told.filter((one) => one.what === "commit" && !commits.has(one.about)).length,
    "commits on another's branch": strangers.length,
    "decisions lost": told.filter(
      (one) =>
        one.what === "decision" &&
        !texts(one.task, "decisions").some((text) => text.includes(`Choice ${one.about}`)),
    ).length,
    "others lost":
      fewer("evidence", "evidence") +
      fewer("handoff", "handoffs") +
      fewer("finding", "findings") +
      fewer("review", "reviews"),
  };
}

/** Nobody is at work any more, and whatever a kill left is settled by ordinary commands. */
async function settle(): Promise<void> {
  for (const end = Date.now() + 180_000; openAttempts().length > 0 && Date.now() < end; await sleep(500))
    await pawl(false, "run", "list");
  await pawl(false, "run", "list");
}

test.runIf(SECONDS > 0)(
  `${SINGLES} runs and ${PIPELINES} pipelines at once with kills for ${SECONDS} s: nothing collides, nothing is lost`,
  async () => {
    const main = project.git("rev-parse", "main");
    const end = Date.now() + SECONDS * 1_000;
    const isOver = () => Date.now() > end;
    const killing = killer(isOver);
    const kinds = [...Array(SINGLES).fill("single"), ...Array(PIPELINES).fill("pipeline")];
    await Promise.all(kinds.map((kind) => work(kind, isOver)));
    await killing;
    await settle();

    const found = audit();
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
    const report = {
      ...{ seconds: SECONDS, ...done, attempts: marks.length, ...found },
      orphans: marks.reduce((sum, mark) => sum + markedProcesses(mark).length, 0),
      "runs not written down": readdirSync(join(runs, "open")).length,
      "tasks without a next command": nameless.length,
      "in the inbox without a command": inbox.needs_you.filter((one: Json) => !one.command).length,
      "still running in the inbox": inbox.running.length,
      "main moved": project.git("rev-parse", "main") === main ? 0 : 1,
      audit: (await pawl(false, "audit"))?.code,
      doctor: (await pawl(false, "doctor"))?.code,
    };
    console.table(report);
    expect(report, nameless.join(" ")).toMatchObject({
      ...{
        collisions: 0,
        "commits lost": 0,
        "commits on another's branch": 0,
        "decisions lost": 0,
        "others lost": 0,
      },
      ...{
        orphans: 0,
        "runs not written down": 0,
        "tasks without a next command": 0,
        "main moved": 0,
        audit: 0,
      },
      ...{ "in the inbox without a command": 0, "still running in the inbox": 0, doctor: 0 },
    });
    expect(found.records).toBeGreaterThan(0);
  },
  (SECONDS * 2 + 600) * 1_000,
);
