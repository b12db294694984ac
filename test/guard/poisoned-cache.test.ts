// @module-tag proof
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { openProject } from "../helpers/command-line.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** V8 takes the compiled code of any text for that of another one of the same length. */

let built: BuiltProgram;
let root: string;
let repo: ReturnType<typeof openProject>;
let runtime: string;

beforeAll(() => {
  built = buildProgram();
  root = makeTemporaryFolder("poisoned cache");
  repo = openProject(makeRepository(root));
  runtime = join(repo.path, ".git/pawl/runtime");
  repo.git("init", "-q", "--bare", join(root, "origin.git"));
  repo.git("remote", "add", "origin", join(root, "origin.git"));
  repo.git("push", "-q", "-u", "origin", "main");
  expect(run(built.pawl, "install", "--profile", "hooks", "--yes").status).toBe(0);
  repo.git("branch", "evil", repo.git("commit-tree", "-p", "main", "-m", "evil", "main^{tree}").trim());
}, 120_000);
afterAll(() => {
  built.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

const run = (program: string, ...args: string[]) =>
  spawnSync(process.execPath, [program, ...args], { cwd: repo.path, env: repo.env, encoding: "utf8" });
const pawl = (...args: string[]) => run(join(runtime, "pawl.cjs"), ...args);
const found = () => {
  const { data, error } = JSON.parse(pawl("audit", "--offline", "--json").stdout);
  return (data ?? error.details).audit.findings.map((one: { code: string }) => one.code);
};

/** The program's own file, what was compiled of it, and the note beside that. */
function compiled() {
  const names = readdirSync(runtime);
  const pick = (pattern: RegExp) => join(runtime, names.find((name) => pattern.test(name)) ?? "missing");
  return {
    text: pick(/^program-.*\.cjs$/),
    cache: pick(/^program-.*\.cache$/),
    note: pick(/^program-.*\.known$/),
  };
}

/** Code of mine, as long as the program; compiled by a Node with the flags of the one that is to run it. */
function poison(text: string): Buffer {
  const evil = '(function () { process.stdout.write("poisoned\\n");process.exit(0);';
  const tail = "})";
  const compile =
    'process.stdout.write(new (require("node:vm").Script)(require("node:fs").readFileSync(0, "utf8")).createCachedData())';
  return spawnSync(process.execPath, ["-e", compile], {
    input: evil.padEnd(readFileSync(text).length - tail.length) + tail,
  }).stdout;
}

test("compiled code that somebody else wrote is not run, and told", {
  timeout: 60_000,
}, () => {
  pawl("status");
  const { text, cache, note } = compiled();
  expect(found()).toEqual([]);
  writeFileSync(cache, poison(text));
  expect(pawl("status")).toMatchObject({ status: 0, stdout: expect.not.stringContaining("poisoned") });

  // The program has compiled itself again by now, under another name.
  const again = compiled();
  writeFileSync(again.cache, poison(text));
  expect(found()).toEqual(["program_changed"]);
  expect(pawl("audit", "--offline").status).toBe(1);

  // Whoever forges the note as well has their code run by short commands, but by none that decides or tells.
  const [name, digest, , times] = readFileSync(note, "utf8").trim().split(" ");
  const { ino, size, ctimeMs } = statSync(again.cache);
  writeFileSync(note, `${name} ${digest} ${ino}-${size}-${ctimeMs} ${times}\n`);
  expect(pawl("status").stdout).toBe("poisoned\n");
  expect(found()).toEqual(["program_changed"]);
  expect(pawl("doctor").stdout).toContain("damaged");
  const pushed = spawnSync("git", ["push", "-q", "origin", "evil:main"], { cwd: repo.path, env: repo.env });
  expect([pushed.status, pushed.stderr.toString()]).toEqual([1, expect.stringContaining("pawl: ")]);
  expect(pawl("doctor", "--fix").status).toBe(0);
  expect(pawl("status").stdout).not.toContain("poisoned");
  expect(found()).toEqual([]);
});

test("an edited program is told by an audit, too", () => {
  const entry = join(runtime, "hook.cjs");
  const text = readFileSync(entry);
  writeFileSync(entry, `${text}\n`);
  expect(found()).toEqual(["program_changed"]);
  writeFileSync(entry, text);
  expect(found()).toEqual([]);
});
