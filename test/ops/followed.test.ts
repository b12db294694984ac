// @module-tag proof
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inPlace } from "../../src/ops/watch.ts";
import { makeRunProject, type RunProject } from "../agents/supervised.ts";
import { terminalFor } from "../helpers/pseudo-terminal.ts";

/** What goes on until somebody has seen enough: `watch`, `log --follow` and `run log --follow`, on a terminal and in a pipe. */
const AGENT = 'cat > /dev/null; while :; do echo "still here"; sleep 0.1; done';
let project: RunProject;
let pawl: string;

beforeAll(async () => {
  project = makeRunProject("followed", undefined, "agents:\n  mine:\n    command: [sh, agent.sh]\n", {
    "agent.sh": AGENT,
  });
  pawl = join(project.path, ".pawl/pawl.cjs");
  await project.pawl("task", "new", "Talk");
  const started = await project.pawl("run", "T1", "--agent", "mine");
  expect(started.code, started.err).toBe(0);
});
afterAll(() => project.remove());

test("whoever closes the pipe ends the command, and not the run", async () => {
  const line = `node '${pawl}' run log T1 --follow | head -n 2`;
  const out = execFileSync("sh", ["-c", line], {
    ...{ cwd: project.path, env: project.env, encoding: "utf8", timeout: 30_000 },
  });
  expect(out).toBe("still here\nstill here\n");
  expect((await project.pawl("run", "list", "--json")).json.data.runs[0].state).toBe("running");
});

test.each(["watch", "log --follow"])(
  "%s ends with its reader, also when there is nothing more to say",
  (line) => {
    const quiet = makeRunProject("quiet", undefined);
    try {
      const followed = `node '${join(quiet.path, ".pawl/pawl.cjs")}' ${line} | head -n 1`;
      const out = execFileSync("sh", ["-c", followed], {
        ...{ cwd: quiet.path, env: quiet.env, encoding: "utf8", timeout: 30_000 },
      });
      expect(out).toMatch(/^.+\n$/);
    } finally {
      quiet.remove();
    }
  },
);

test("a followed log begins with the latest events, and then shows only what is new", async () => {
  const following = project.start("log", "--follow", "--limit", "1");
  await project.waitFor("the first event", () => following.said().includes("\n"));
  const first = following.said();
  await project.pawl("note", "add", "Seen while following");
  await project.waitFor("the new event", () => following.said().includes("note"));
  following.end();
  expect(first.trim().split("\n")).toHaveLength(1);
  expect(following.said().slice(first.length).trim().split("\n")).toHaveLength(1);
});

test("on a small terminal watch keeps what comes first, and says what it leaves out", async () => {
  const sized = ["sh", "-c", 'stty cols 40 rows 8; exec "$0" "$@"', process.execPath, pawl, "watch"];
  const [command, args] = terminalFor(sized);
  const child = spawn(command, args, { cwd: project.path, env: { ...project.env, TERM: "xterm" } });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  await project.waitFor("the inbox", () => said.includes("pawl inbox"));
  child.kill();
  expect(said).toMatch(/needs you.*[\s\S]*… \d+ more lines: pawl inbox/);
  expect(said).not.toContain("\u001b[2J");
});

test.each([
  ["fits", 24, "one\u001b[K\ntwo\u001b[K\nthree\u001b[K\n"],
  ["fits with the row of the cursor", 4, "one\u001b[K\ntwo\u001b[K\nthree\u001b[K\n"],
  ["is longer", 3, "one\u001b[K\ntwo\u001b[K\n… 1 more"],
])("what is shown in place %s", (_, rows, shown) => {
  expect(inPlace("one\ntwo\nthree", { columns: 9, rows })).toBe(`\u001b[H${shown}\u001b[J`);
});

test("a line that wraps takes the rows that it needs", () => {
  expect(inPlace(`${"x".repeat(25)}\ntwo`, { columns: 10, rows: 4 })).toContain("… 1 more");
});
