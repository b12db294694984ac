import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readExit, readGuard } from "../../src/agents/attempt/folder.ts";
import { endProcesses } from "../../src/agents/end-processes.ts";
import { pause } from "../../src/files/pause.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const GUARD = readFileSync("src/agents/guard.sh", "utf8");

function temporaryFolder(): string {
  const folder = makeTemporaryFolder("exit");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const isThere = async (path: string) => {
  while (!existsSync(path)) await pause(5);
};

test("an exit without a time gets the time of its file", () => {
  const folder = temporaryFolder();
  expect(readExit(folder)).toBeUndefined();
  const file = join(folder, "exit.json");
  writeFileSync(file, '{"code":137,"by":"guard","at":""}');
  utimesSync(file, 1_800_000_000, 1_800_000_000);
  expect(readExit(folder)).toEqual({ code: 137, by: "guard", at: "2027-01-15T08:00:00.000Z" });
});

test("stopping an agent while its guard records the exit keeps that exit", async () => {
  const folder = temporaryFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  // The guard's own program takes its time, so that there is a moment to stop it in.
  const slow = `#!/bin/sh\n: >'${folder}/writing'\nsleep 0.2\nPATH=\${PATH#*:} exec ln "$@"\n`;
  writeFileSync(join(bin, "ln"), slow, { mode: 0o755 });
  writeFileSync(join(folder, "in"), "");
  const mark = `exit-file.${process.pid}`;
  const env = { PATH: `${bin}:${process.env.PATH}`, PAWL_ATTEMPT: mark };
  spawn("/bin/sh", ["-c", GUARD, "pawl-guard", folder, "sh", "-c", "exit 7"], { env, stdio: "ignore" });
  await isThere(join(folder, "writing"));
  await endProcesses({ mark, cwd: folder, stopCommand: undefined }, readGuard(folder), 2_000);
  expect(readExit(folder)).toMatchObject({ code: 7, by: "guard" });
});

test("stopping an agent spares what its guard starts to record the exit, even if it carries the agent's mark", async () => {
  const folder = temporaryFolder();
  const mark = `exit-file.marked.${process.pid}`;
  // A shell's child carries the mark until it has become another program; this one carries it for as long as it runs.
  const guard = `trap : INT
sh -c 'trap "exit 7" INT; : >begun; while :; do sleep 0.01; done'; code=$?
i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done
sh -c "sleep 0.2; echo '{\\"code\\":$code,\\"by\\":\\"guard\\"}' >exit.json"`;
  const { pid = 0 } = spawn("/bin/sh", ["-c", guard], {
    ...{ cwd: folder, env: { PATH: process.env.PATH, PAWL_ATTEMPT: mark }, stdio: "ignore" },
  });
  await isThere(join(folder, "begun"));
  await endProcesses({ mark, cwd: folder, stopCommand: ["sleep", "0.15"] }, pid, 10_000);
  expect(readExit(folder)).toMatchObject({ code: 7, by: "guard" });
});
