import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAgentsAbove } from "../../src/files/agent-above.ts";
import { printActor } from "../../src/model/actor.ts";
import { bundlePawl } from "../helpers/pseudo-terminal.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
beforeAll(() => {
  root = makeTemporaryFolder("above");
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

/** Processes as the system tells of them: pid, name, parent, environment. */
function tell(
  ...processes: [pid: number, name: string, parent: number, env: string[] | undefined][]
): string {
  const proc = join(root, `proc ${Math.random()}`);
  for (const [pid, name, parent, env] of processes) {
    mkdirSync(join(proc, String(pid)), { recursive: true });
    writeFileSync(join(proc, String(pid), "stat"), `${pid} (${name}) S ${parent} 1 1 0 -1 4194304`);
    if (env) writeFileSync(join(proc, String(pid), "environ"), env.map((one) => `${one}\0`).join(""));
  }
  return proc;
}

describe("the agent that a process descends from", () => {
  test("is found above one whose environment was cleared", () => {
    const proc = tell(
      [30, "script", 20, ["PATH=/bin"]],
      [20, "env -i) S 1 (x", 10, []],
      [10, "claude", 1, ["PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s1"]],
      [1, "init", 0, undefined],
    );
    expect(findAgentsAbove(30, undefined, proc)).toEqual([
      {
        actor: { kind: "agent", name: "claude-code", session: "s1" },
        pid: 10,
        program: "claude",
        variable: "CLAUDECODE",
        guard: false,
      },
    ]);
  });

  test("is none where nobody bears a sign, or the system does not tell", () => {
    const proc = tell([30, "bash", 10, ["CLAUDECODE=", "XCLAUDECODE=1"]], [10, "sshd", 1, undefined]);
    expect(findAgentsAbove(30, undefined, proc)).toEqual([]);
    expect(findAgentsAbove(30, undefined, join(root, "nowhere"))).toEqual([]);
    expect(findAgentsAbove(5, undefined, tell([5, "loop", 5, []]))).toEqual([]);
  });

  const namesAbove = (from: number, proc: string, isGuard?: (run: string, pid: number) => boolean) =>
    findAgentsAbove(from, isGuard, proc).map((one) => `${one.pid} ${printActor(one.actor)}`);

  test("is told by its program where a shell gave way to what it started", () => {
    const proc = tell([40, "node", 30, []], [30, "codex", 20, ["PATH=/bin"]], [20, "node", 10, []]);
    writeFileSync(join(proc, "40", "cmdline"), "node\0.pawl/pawl.cjs\0review\0record\0");
    writeFileSync(join(proc, "20", "cmdline"), "/usr/bin/node\0/usr/bin/gemini\0");
    expect(namesAbove(40, proc)).toEqual(["30 agent:codex", "20 agent:gemini"]);
    const editor = tell([40, "vim", 30, []], [30, "cursor", 1, []], [1, "node", 0, []]);
    writeFileSync(join(editor, "40", "cmdline"), "vim\0codex\0");
    expect(namesAbove(40, editor), "an editor that humans have terminals in").toEqual([]);
  });

  test("is told by who leads the group or the terminal that it stayed in, when its parent has ended", () => {
    const proc = tell([1, "init", 0, []], [20, "claude", 7, []], [7, "bash", 1, []], [9, "sh", 1, []]);
    mkdirSync(join(proc, "self"));
    const stayedIn = (group: number, session: number) => {
      writeFileSync(join(proc, "self/stat"), `99 (node) S 1 ${group} ${session} 0 -1 4194304`);
      return namesAbove(1, proc);
    };
    expect(stayedIn(20, 7)).toEqual(["20 agent:claude-code"]);
    expect(stayedIn(9, 20)).toEqual(["20 agent:claude-code"]);
    expect(stayedIn(9, 7), "a human's own shell").toEqual([]);
    // A leader that has ended tells nothing more.
    expect(stayedIn(88, 88)).toEqual([]);
  });

  test("are all of them, as far as the guard of a run that pawl started", () => {
    const run = ["PAWL_RUN=T0001/R2", "PAWL_AGENT=codex"];
    const proc = tell(
      [50, "bash", 40, [...run, "CODEX_SESSION_ID=c1"]],
      [40, "sh", 30, run],
      [30, "node", 10, run],
      [10, "bash", 1, ["CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=manager"]],
    );
    const all = ["50 agent:codex:c1", "40 agent:codex", "30 agent:codex", "10 agent:claude-code:manager"];
    expect(namesAbove(50, proc)).toEqual(all);
    const isGuard = (named: string, pid: number) => named === "T0001/R2" && pid === 40;
    expect(namesAbove(50, proc, isGuard)).toEqual(all.slice(0, 2));
  });
});

describe.skipIf(process.platform !== "linux")("the real program", () => {
  test("is refused what is a human's, by the process and the variable, however its environment was cleared", {
    tags: ["proof"],
  }, async () => {
    const program = await bundlePawl(join(root, "program"));
    const repository = makeRepository(root);
    const ask = `'${process.execPath}' '${program}' unlock main --for 10m`;
    const clear = `env -i PATH="$PATH" HOME="$HOME"`;
    const ways = [
      `${clear} ${ask}`,
      `CLAUDECODE= ${ask}`,
      `${clear} script -qec "${ask}" /dev/null`,
      `${clear} git -c alias.x="!${ask}" x`,
    ];
    for (const way of ways) {
      // The shell stands for the agent's own program, which has the sign and starts the rest.
      const { stdout, stderr } = spawnSync("sh", ["-c", `${way}; true`], {
        cwd: repository.path,
        env: { ...repository.env, CLAUDECODE: "1" },
        encoding: "utf8",
        timeout: 60_000,
      });
      const said = `${stdout}${stderr}`.replaceAll("\r", "");
      expect(said, way).toMatch(/Only a human may .*; this is agent:claude-code/);
      // Somebody who sits at a terminal learns why, and the way out.
      if (way.includes("script"))
        expect(said).toMatch(/process \d+ \(sh\), .* has CLAUDECODE set; open a terminal/);
    }
  });
});
