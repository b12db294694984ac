// @module-tag proof
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { owners } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { parseIdentity } from "../../src/files/process-identity.ts";
import { makeRunProject, type RunProject } from "../agents/supervised.ts";

/**
 * Where a run happens is a command of the project's own. This one does what a container does to us: whatever runs inside
 * has another environment, leads a session of its own, and is out of reach of signals and of the run's mark.
 */
const BOX = `attempt=$1 name=$2
shift 2
exec setsid -w env -i PATH="$PATH" INSIDE="$name" PAWL_RUN="$PAWL_RUN" sh -c 'echo $$ > "$0/box"; "$@"' "$attempt" "$@"
`;
const STOP_BOX = `echo stopped > "$1/box-stopped"
kill -KILL "-$(cat "$1/box")"
`;
const AGENT = `echo "inside $INSIDE of $PAWL_RUN, marked: \${PAWL_ATTEMPT:-no}"
head -n 1
[ "$1" = stays ] && exec sleep 300
exit 7
`;
const CONFIG = `agents:
  ends:
    command: [sh, agent.sh, it is done]
  stays:
    command: [sh, agent.sh, stays]
runner: sh box.sh {attempt} {name}
runner_stop: sh stop-box.sh {attempt}
`;

let project: RunProject;
let tasks = 0;

beforeAll(() => {
  project = makeRunProject("runner", undefined, CONFIG, {
    "box.sh": BOX,
    "stop-box.sh": STOP_BOX,
    "agent.sh": AGENT,
  });
});
afterAll(() => project.remove());

async function begin(agent: string): Promise<string> {
  const { json } = await project.pawl("task", "new", `Boxed ${++tasks}`, "--json");
  const run = `${json.data.task.id}/R1`;
  const started = await project.pawl("run", json.data.task.id, "--agent", agent);
  expect(started.code, started.err).toBe(0);
  return run;
}

const fileOf = (run: string, name: string) => join(project.attempt(run).path, name);
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

test("the agent's own words, its prompt, its output and its exit code pass the wall in both directions", async () => {
  const run = await begin("ends");
  const { code, json } = await project.pawl("run", "wait", run, "--json");
  expect({ code, run: json.data.runs[0] }).toMatchObject({
    code: 1,
    run: { state: "failed", reason: "exit" },
  });
  const [task = ""] = run.split("/");
  const name = `pawl-${task.toLowerCase()}-r1-a1`;
  const log = (await project.pawl("run", "log", run)).out;
  expect(log).toContain(`inside ${name} of ${run}, marked: no`);
  expect(log).toContain(`You are the author of ${task}.`);
  expect(project.read(`tasks/${task}/runs/R1/run.md`)).toContain("exit_code: 7");
});

async function boxed(run: string): Promise<number> {
  const pid = () => (existsSync(fileOf(run, "box")) ? Number(readFileSync(fileOf(run, "box"), "utf8")) : 0);
  await project.waitFor("the box", () => pid() > 0);
  expect(isAlive(pid())).toBe(true);
  return pid();
}

test("what signals cannot reach is ended by the runner's own command", async () => {
  const run = await begin("stays");
  const inside = await boxed(run);
  const stopped = await project.pawl("run", "stop", run, "--grace", "1s", "--json");
  expect(stopped.json.data.run).toMatchObject({ status: "interrupted", attempts: [{ reason: "stopped" }] });
  expect(existsSync(fileOf(run, "box-stopped"))).toBe(true);
  expect(isAlive(inside)).toBe(false);
});

test("also when supervisor and guard were killed, and nobody of this side is left", async () => {
  const run = await begin("stays");
  const inside = await boxed(run);
  const { path, spec } = project.attempt(run);
  const supervisor = parseIdentity(owners(path).at(-1) ?? "")?.pid ?? 0;
  for (const pid of [supervisor, ...markedProcesses(spec.mark).map((one) => one.pid)]) send(pid, "SIGKILL");
  const { json } = await project.pawl("run", "wait", run, "--json");
  expect(json.data.runs[0]).toMatchObject({ state: "interrupted", reason: "guard_lost" });
  expect(isAlive(inside)).toBe(false);
});
