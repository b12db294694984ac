import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { mountSmallDisk } from "../helpers/mounted-folder.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** A run of the tests that is killed leaves no folder, process or mount behind, even when its watcher is killed too. */
const runFolders = fileURLToPath(new URL("../helpers/run-folders.mjs", import.meta.url));

interface KilledRun {
  main: ChildProcess;
  /** Where its tests would make their repositories. */
  folder: string;
  left: { process: ChildProcess; mount: string | undefined };
}

/** A run with a process in a session of its own, a folder that it may not read, and a mounted disk where that is allowed. */
async function beginRun(base: string): Promise<KilledRun> {
  const script = `import(${JSON.stringify(runFolders)}).then(({ openRunFolders }) => {
    openRunFolders();
    console.log(process.env.TMPDIR);
    setInterval(() => {}, 1_000);
  })`;
  const env = { PATH: process.env.PATH, HOME: base, XDG_CACHE_HOME: join(base, "cache"), TMPDIR: base };
  const main = spawn(process.execPath, ["-e", script], { env, stdio: ["ignore", "pipe", "inherit"] });
  const folder = await new Promise<string>((done) =>
    main.stdout?.once("data", (text) => done(`${text}`.trim())),
  );
  const left = spawn("sleep", ["300"], { env: { ...env, TMPDIR: folder }, detached: true, stdio: "ignore" });
  mkdirSync(join(folder, "locked"));
  writeFileSync(join(folder, "locked/file"), "x");
  spawnSync("chmod", ["000", join(folder, "locked")]);
  const mount = join(folder, "a small disk");
  const isMounted = typeof mountSmallDisk(mount, "size=1m") !== "string";
  return { main, folder, left: { process: left, mount: isMounted ? mount : undefined } };
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
const isMounted = (folder: string) =>
  readFileSync("/proc/mounts", "utf8").includes(folder.replaceAll(" ", "\\040"));

async function expectNothingLeft({ folder, left }: KilledRun, base: string): Promise<void> {
  const remains = () => ({
    process: !hasEnded(left.process),
    mount: left.mount !== undefined && isMounted(left.mount),
    folders: readdirSync(base, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.includes(basename(folder)),
    ),
  });
  const nothing = { process: false, mount: false, folders: [] };
  await vi.waitFor(() => expect(remains()).toEqual(nothing), { timeout: 30_000 });
}

function newBase(): string {
  const base = makeTemporaryFolder("killed run");
  onTestFinished(() => rmSync(base, { recursive: true, force: true, maxRetries: 3 }));
  return base;
}

test.runIf(process.platform === "linux")("what a killed run leaves is cleared away at once", async () => {
  const base = newBase();
  const run = await beginRun(base);
  run.main.kill("SIGKILL");
  await expectNothingLeft(run, base);
});

test.runIf(process.platform === "linux")(
  "where its watcher was killed too, the next run clears it away, and no run that is alive",
  async () => {
    const base = newBase();
    const [killed, alive] = [await beginRun(base), await beginRun(base)];
    onTestFinished(() => void alive.main.kill("SIGKILL"));
    const name = `pawl-tests-${killed.main.pid}`;
    const watchers = spawnSync("pgrep", ["-f", `clear-away.mjs ${name} `], {
      encoding: "utf8",
    }).stdout.trim();
    expect(watchers).toMatch(/^\d+$/);
    process.kill(Number(watchers), "SIGKILL");
    killed.main.kill("SIGKILL");
    await vi.waitFor(() => expect(hasEnded(killed.main)).toBe(true));
    expect(existsSync(killed.folder)).toBe(true);
    const next = await beginRun(base);
    next.main.kill("SIGKILL");
    await vi.waitFor(() => expect(existsSync(killed.folder)).toBe(false), { timeout: 30_000 });
    expect([existsSync(alive.folder), hasEnded(alive.left.process)]).toEqual([true, false]);
    alive.main.kill("SIGKILL");
    for (const run of [killed, next, alive]) await expectNothingLeft(run, base);
  },
);
