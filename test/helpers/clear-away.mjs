// Clears away what a run of the tests leaves behind: its processes, its mounts and its folders. A run that was killed cannot
// do that itself, so this is a program of its own.
//   node clear-away.mjs RUN BASE…    waits until its standard input is closed, then clears away the run of that name
//   node clear-away.mjs dead BASE…   clears away every run that has ended and whose watcher was killed as well
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const [name = "", ...bases] = process.argv.slice(2);

function deadRuns() {
  const names = new Set(bases.flatMap(namesIn));
  return [...names].filter((one) => {
    const pid = /^pawl-tests-(\d+)$/.exec(one)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
}

async function clear(run) {
  // What is killed may have started another process a moment before.
  for (let round = 0; round < 10 && killProcesses(run) > 0; round++) await delay(50);
  for (const base of bases) {
    const folder = join(base, run);
    for (const mount of mountsBelow(folder)) attempt(`unmount ${mount}`, () => unmount(mount));
    attempt(`remove ${folder}`, () => remove(folder));
  }
}

/** One of these variables names the run, even in the barest environment that a test gives a process. */
function killProcesses(run) {
  const mark = new RegExp(`\\0(?:HOME|TMPDIR|PAWL_TEST_RUN)=(?:[^\\0]*/)?${run}[/\\0]`);
  const pids = namesIn("/proc").filter((pid) => /^\d+$/.test(pid) && mark.test(`\0${environmentOf(pid)}\0`));
  for (const pid of pids) attempt(`end process ${pid}`, () => process.kill(Number(pid), "SIGKILL"));
  return pids.length;
}

/** The innermost first. */
const mountsBelow = (folder) =>
  readOr("/proc/mounts")
    .split("\n")
    .map((line) =>
      (line.split(" ")[1] ?? "").replace(/\\(\d{3})/g, (_, code) =>
        String.fromCharCode(Number.parseInt(code, 8)),
      ),
    )
    .filter((mount) => mount.startsWith(`${folder}/`))
    .reverse();

const unmount = (mount) => execFileSync("umount", ["--lazy", mount], { stdio: "pipe" });

function remove(folder) {
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
  try {
    rmSync(folder, options);
  } catch {
    // A test took away the permission to change one of its folders, and was killed before it gave it back.
    execFileSync("chmod", ["-R", "u+rwX", folder], { stdio: "pipe" });
    rmSync(folder, options);
  }
}

/** What cannot be cleared away, because it is another user's or busy, stops no run. */
function attempt(what, act) {
  try {
    act();
  } catch (error) {
    if (error.code !== "ESRCH")
      process.stderr.write(`The tests left something behind; could not ${what}: ${error.message}\n`);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOr(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function environmentOf(pid) {
  return readOr(`/proc/${pid}/environ`);
}

if (name === "dead") for (const run of deadRuns()) await clear(run);
else {
  process.stdin.resume().on("end", () => clear(name));
}
