// @module-tag proof
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { files, makeAttempt, owners, readExit, readSpec } from "../../src/agents/attempt/folder.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { agentsAt, type ChaosPlace, launch } from "./chaos-worker.ts";

/** An attempt is at rest when the last thing that its supervisor starts is over, and not a moment before. */
const RUN = "T0001/R1";

let root: string;
let place: ChaosPlace;

beforeAll(async () => {
  root = makeTemporaryFolder("at rest");
  const source = join(import.meta.dirname, "../../src/agents/bin.ts");
  const program = join(root, "write-down.cjs");
  writeFileSync(program, `setTimeout(() => require("node:fs").writeFileSync("written", "yes"), 1000);`);
  place = {
    runs: join(root, "runs"),
    project: root,
    supervisor: await bundleProgram(source, root, "supervise"),
    program,
  };
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

test("an attempt is at rest only after its outcome is recorded, and no supervisor takes it up again", async () => {
  const agents = agentsAt(place);
  await launch({ ...place, run: RUN, command: ["true"] });
  const path = join(place.runs, "T0001.R1", "a1");
  const written = join(root, "written");
  let wasBusy = false;
  for (const end = Date.now() + 60_000; !agents.isAtRest(RUN); await sleep(10)) {
    wasBusy ||= readExit(path) !== undefined && !existsSync(written);
    expect(Date.now(), "the supervisor never goes").toBeLessThan(end);
  }
  expect(wasBusy).toBe(true);
  expect(readFileSync(written, "utf8")).toBe("yes");

  const before = owners(path);
  rmSync(written);
  expect(spawnSync(process.execPath, [place.supervisor, path], { stdio: "inherit" }).status).toBe(0);
  expect(owners(path)).toEqual(before);
  expect(existsSync(written)).toBe(false);
});

test("the claim is renewed while the agent works, and once more after the outcome is recorded", () => {
  const log = join(root, "renewals");
  const say = (word: string) => ["/bin/sh", "-c", `echo ${word} >> ${JSON.stringify(log)}`];
  const known = readSpec(join(place.runs, "T0001.R1", "a1"));
  const spec = {
    ...known,
    ...{ number: 2, argv: ["sleep", "1"], mark: `${known?.mark}2` },
    ...{ settle: { argv: say("written"), cwd: root }, renew: { argv: say("renewed"), everyMs: 100 } },
  };
  const contents = { [files.spec]: JSON.stringify(spec), [files.input]: "" };
  const path = makeAttempt(place.runs, RUN, 2, contents) ?? "";
  expect(spawnSync(process.execPath, [place.supervisor, path], { stdio: "inherit" }).status).toBe(0);
  const said = readFileSync(log, "utf8").trim().split("\n");
  expect(said.indexOf("written")).toBeGreaterThanOrEqual(2);
  expect(said.slice(-2)).toEqual(["written", "renewed"]);
});

test("a waiting supervisor exits if its order never arrives or is cut short, and starts nothing", async () => {
  const path = join(place.runs, "T0001.R1", "a1");
  const order = JSON.stringify({ path, env: {} });
  const before = owners(path);
  for (const said of ["", order.slice(0, -5)]) {
    const waiting = spawn(process.execPath, [place.supervisor], { stdio: ["pipe", "ignore", "inherit"] });
    const ended = new Promise((done) => waiting.on("close", done));
    await sleep(200);
    expect(waiting.exitCode).toBe(null);
    waiting.stdin.end(said);
    expect(await ended).toBe(0);
  }
  expect(owners(path)).toEqual(before);

  const supervisors = () =>
    readdirSync("/proc").filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return words.includes(place.supervisor) && words.length < 5;
      } catch {
        return false;
      }
    });
  const prepared = agentsAt(place).prepare();
  for (const end = Date.now() + 30_000; supervisors().length === 0; await sleep(10))
    expect(Date.now(), "it never came").toBeLessThan(end);
  prepared.dismiss();
  for (const end = Date.now() + 30_000; supervisors().length > 0; await sleep(10))
    expect(Date.now(), "it waits for ever").toBeLessThan(end);
});

test("the outcome is recorded as soon as nobody else holds the task", () => {
  const known = readSpec(join(place.runs, "T0001.R1", "a1"));
  const tries = join(root, "tries");
  const mark = join(place.runs, "open", "T0001.R1");
  // The first one finds the task held by whoever started the agent, the second one does its work.
  const settle = `echo try >> "${tries}"; [ $(wc -l < "${tries}") -lt 2 ] || rm "${mark}"`;
  const spec = {
    ...known,
    ...{ number: 3, argv: ["true"], mark: `${known?.mark}3` },
    settle: { argv: ["/bin/sh", "-c", settle], cwd: root },
  };
  agentsAt(place).announce(RUN);
  const contents = { [files.spec]: JSON.stringify(spec), [files.input]: "" };
  const path = makeAttempt(place.runs, RUN, 3, contents) ?? "";
  expect(spawnSync(process.execPath, [place.supervisor, path], { stdio: "inherit" }).status).toBe(0);
  expect([readFileSync(tries, "utf8"), existsSync(mark)]).toEqual(["try\ntry\n", false]);
});
