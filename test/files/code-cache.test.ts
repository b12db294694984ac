import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let built: BuiltProgram;
let root: string;
let repo: ReturnType<typeof makeRepository>;

beforeEach(() => {
  built = buildProgram();
  root = makeTemporaryFolder("code cache");
  repo = makeRepository(root);
}, 120_000);
afterEach(() => {
  built.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

const pawl = (...args: string[]) =>
  spawnSync(process.execPath, [built.pawl, ...args], { cwd: repo.path, env: repo.env, encoding: "utf8" });

const find = (folder: string, pattern: RegExp) =>
  readdirSync(folder)
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));

test.each([
  ["the program", () => built.folder, /^program-.*\.cjs$/],
  ["what one command loads", () => join(built.folder, "chunks"), /^status-.*\.cjs$/],
])("where %s was cut off or is gone, the way out is said", (_, folder, pattern) => {
  const [file = "missing"] = find(folder(), pattern);
  const damages = [() => writeFileSync(file, readFileSync(file).subarray(0, -500)), () => rmSync(file)];
  for (const damage of damages) {
    damage();
    const { status, stderr } = pawl("status");
    expect(status).toBe(2);
    expect(stderr).toBe(
      `pawl: ${file} is missing or damaged.\nInstall pawl again: \`node .pawl/get.cjs\` in a clone, else the package that it came in.\n`,
    );
  }
});

test("many first commands at once leave one compiled cache of the program", {
  tags: ["proof"],
  timeout: 60_000,
}, async () => {
  const commands = Array.from({ length: 12 }, () =>
    spawn(process.execPath, [built.pawl, "version"], { cwd: repo.path, env: repo.env, stdio: "ignore" }),
  );
  await Promise.all(commands.map((one) => new Promise((done) => one.once("close", done))));
  // Each removes what it finds of the others after it has written its own; two may remove each other's.
  expect(find(built.folder, /^program-.*\.cache$/).length).toBeLessThanOrEqual(1);
});

test("a command that is new adds what it compiles, however often others have run", () => {
  const cache = () => find(built.folder, /^program-.*\.cache$/).map((file) => readFileSync(file).length);
  for (let times = 0; times < 12; times++) pawl("version");
  const [before = 0] = cache();
  pawl("status");
  const [after = 0] = cache();
  expect(before).toBeGreaterThan(0);
  expect(after).toBeGreaterThan(before);
});

test("what a search has compiled is taken by the commands after it", () => {
  pawl("task", "new", "Retry failed uploads");
  expect(pawl("search", "retry").stdout).toContain("T0001");
  const [text = "", cache = ""] = [/^program-.*\.cjs$/, /^program-.*\.cache$/].flatMap((one) =>
    find(built.folder, one),
  );
  const load =
    'new vm.Script(fs.readFileSync(process.argv[1], "latin1"), { cachedData: fs.readFileSync(process.argv[2]) }).cachedDataRejected';
  const { stdout } = spawnSync(process.execPath, ["-p", load, text, cache], { encoding: "utf8" });
  expect(stdout).toBe("false\n");
});
