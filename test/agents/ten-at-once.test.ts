// @module-tag proof
// @module-tag again
import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { owners } from "../../src/agents/attempt/folder.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import { IS_LONG, SECONDS } from "../helpers/long-runs.ts";
import { PROGRAMS_TIMEOUT_MS, realPrograms } from "./programs.ts";
import { dialects } from "./run-agent.ts";
import { type RecordedRequest, type ScriptedModel, type Step, startModel } from "./scripted-model.ts";
import { makeRunProject, type RunProject, type SupervisedName } from "./supervised.ts";

/**
 * Runs of three vendors at once in one repository, each of which commits, records decisions and runs checks as fast as it
 * can. What the model told them to do is compared with what git and the records have. `npm run long -- ten-at-once`
 * starts ten of them, for as long as PAWL_TEST_SECONDS says.
 */
const AGENTS: readonly SupervisedName[] = IS_LONG
  ? ["claude", "claude", "claude", "claude", "codex", "codex", "codex", "copilot", "copilot", "copilot"]
  : ["claude", "codex", "copilot", "claude", "codex", "copilot"];
/** Turns of each conversation: one act each, then a handoff and a last word. */
const TURNS = IS_LONG ? 3_000 : 3;
const PATIENCE_S = (IS_LONG ? SECONDS : 0) + 300;

/** What a run was told to do, by the id of its task. */
interface Told {
  commits: number;
  decisions: number;
  checks: number;
}

let project: RunProject;
const models: ScriptedModel[] = [];
const told = new Map<string, Told>();
let deadline = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  project = makeRunProject("ten at once", await realPrograms());
  const urls = { claude: "", codex: "", copilot: "" };
  for (const name of Object.keys(urls) as SupervisedName[]) {
    const model = await startModel(scriptFor(name), { forgets: true });
    models.push(model);
    urls[name] = model.url;
  }
  project.aimAt(urls);
}, PROGRAMS_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all(models.map((one) => one.close()));
  project?.remove();
});

function scriptFor(name: SupervisedName): Step[] {
  const { shell, mcp } = dialects[name];
  const over = new Map<string, number>();
  return Array.from({ length: TURNS + 2 }, (_, turn) => (request: RecordedRequest) => {
    const task = /You are the author of (T\d+)\./.exec(request.text)?.[1] ?? "";
    const mine = told.get(task) ?? { commits: 0, decisions: 0, checks: 0 };
    told.set(task, mine);
    if (turn >= TURNS || Date.now() > deadline) {
      const turnsAfter = over.get(task) ?? 0;
      over.set(task, turnsAfter + 1);
      if (turnsAfter > 0) return { say: "Done." };
      return { call: mcp("handoff", { what: "Done", next: "review it" }) };
    }
    if (turn % 3 === 0) {
      const nth = ++mine.commits;
      return {
        call: shell(`echo ${nth} >> ${task}.txt && git add -A && git commit -qm "${task} ${nth}" && sleep 1`),
      };
    }
    if (turn % 3 === 1)
      return { call: mcp("decide", { what: `Choice ${++mine.decisions}`, why: "asked to" }) };
    mine.checks++;
    return { call: mcp("verify", { command: ["git", "status", "--porcelain"] }) };
  });
}

/** What the supervisors take, as the kernel counts it. */
class Supervisors {
  private readonly seen = new Map<number, { ticks: number; kilobytes: number }>();
  private highestLoad = 0;

  look(runs: readonly string[]): void {
    this.highestLoad = Math.max(this.highestLoad, loadavg()[0] ?? 0);
    for (const run of runs) {
      const pid = parseIdentity(owners(project.attempt(run).path).at(-1) ?? "")?.pid;
      const stat = pid === undefined ? undefined : procText(pid, "stat");
      const kilobytes = pid === undefined ? 0 : Number(/VmRSS:\s+(\d+)/.exec(procText(pid, "status"))?.[1]);
      if (pid === undefined || !stat || !(kilobytes > 0)) continue;
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const ticks = Number(fields[11]) + Number(fields[12]);
      const before = this.seen.get(pid)?.kilobytes ?? 0;
      this.seen.set(pid, { ticks, kilobytes: Math.max(before, kilobytes) });
    }
  }

  told() {
    const all = [...this.seen.values()];
    const megabytes = (one: number) => Math.round(one / 1024);
    return {
      supervisors: all.length,
      "largest supervisor, MB": megabytes(Math.max(...all.map((one) => one.kilobytes))),
      "all supervisors, MB": megabytes(all.reduce((sum, one) => sum + one.kilobytes, 0)),
      "processor seconds of each, at most": Math.max(...all.map((one) => one.ticks)) / 100,
      "highest load of the machine": Number(this.highestLoad.toFixed(1)),
    };
  }
}

function procText(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

const names = (task: string, folder: string): string[] => {
  try {
    return readdirSync(join(project.path, ".pawl/state/tasks", task, folder));
  } catch {
    return [];
  }
};

/** Compares what one run was told with what is there. */
function audit(task: string, branch: string) {
  const { commits, decisions, checks } = told.get(task) ?? { commits: -1, decisions: -1, checks: -1 };
  const subjects = project.git("log", "--format=%s", `main..${branch}`).split("\n").filter(Boolean);
  const changed = project.git("diff", "--name-only", `main...${branch}`).split("\n");
  return {
    commits: subjects.length,
    lostCommits: commits - subjects.length,
    records: names(task, "decisions").length + names(task, "evidence").length,
    lostRecords: decisions + checks - names(task, "decisions").length - names(task, "evidence").length,
    strangers: subjects.filter((one) => !one.startsWith(`${task} `)).length,
    strangeFiles: changed.filter((one) => one !== `${task}.txt`).length,
    handoffs: names(task, "handoffs").length,
  };
}

test(
  `${AGENTS.length} runs of three vendors at once${IS_LONG ? ` for ${SECONDS} s` : ""}: no collision, no lost record, main untouched`,
  async () => {
    const main = project.git("rev-parse", "main");
    const status = project.git("status", "--porcelain");
    const all: { task: string; agent: SupervisedName; run: string }[] = [];
    for (const [nth, agent] of AGENTS.entries()) {
      const { json } = await project.pawl("task", "new", `Of ${agent} ${nth}`, "--json");
      all.push({ task: json.data.task.id, agent, run: `${json.data.task.id}/R1` });
    }
    const started = await Promise.all(
      all.map(({ task, agent }) => project.pawl("run", task, "--agent", agent)),
    );
    expect(started.filter((one) => one.code !== 0)).toEqual([]);
    if (IS_LONG) deadline = Date.now() + SECONDS * 1_000;
    const runs = all.map((one) => one.run);
    const supervisors = new Supervisors();
    const waiting = waitForAll(runs);
    for (let isOver = false; !isOver; ) {
      supervisors.look(runs);
      isOver = await Promise.race([waiting.then(() => true), sleep(1_000).then(() => false)]);
    }
    const states = await waiting;
    const found = all.map(({ task, agent }, nth) => audit(task, `task/${task}-of-${agent}-${nth}`));
    const sum = (pick: (one: (typeof found)[number]) => number) =>
      found.reduce((total, one) => total + pick(one), 0);
    const report = {
      runs: all.length,
      "ended well": states.filter((one) => one === "succeeded").length,
      commits: sum((one) => one.commits),
      "commits lost": sum((one) => one.lostCommits),
      records: sum((one) => one.records),
      "records lost": sum((one) => one.lostRecords),
      "commits on another's branch": sum((one) => one.strangers),
      "files of another": sum((one) => one.strangeFiles),
      handoffs: sum((one) => one.handoffs),
      "main moved": project.git("rev-parse", "main") === main ? 0 : 1,
      "main's checkout changed": project.git("status", "--porcelain") === status ? 0 : 1,
      "processes left": runs.reduce((total, run) => total + project.left(run), 0),
    };
    console.table({ ...report, ...supervisors.told() });
    expect(report).toMatchObject({
      ...{ "ended well": all.length, handoffs: all.length, "processes left": 0 },
      ...{ "commits lost": 0, "records lost": 0, "commits on another's branch": 0, "files of another": 0 },
      ...{ "main moved": 0, "main's checkout changed": 0 },
    });
    expect(report.commits).toBeGreaterThanOrEqual(all.length);
  },
  (PATIENCE_S + 60) * 1_000,
);

async function waitForAll(runs: readonly string[]): Promise<string[]> {
  for (const end = Date.now() + PATIENCE_S * 1_000; ; ) {
    const { code, json } = await project.pawl("run", "wait", ...runs, "--for", "30s", "--json");
    const states = json.data.runs.map((one: { state: string }) => one.state);
    if (code !== 2 || Date.now() > end) return states;
  }
}
