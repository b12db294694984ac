import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytesOf, jsonIfReadable, lineIfReadable, textIfPresent } from "../../src/files/read.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { bundlePawl } from "../helpers/pseudo-terminal.ts";
import { ok } from "../helpers/ready-task.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
let program: string;
let project: Project;
beforeAll(async () => {
  root = makeTemporaryFolder("not a file");
  program = await bundlePawl(root);
  project = openProject(makeRepository(root));
  await ok(project.pawl("install", "--profile", "hooks", "--yes"));
  await ok(project.pawl("task", "new", "One"));
}, 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const makePipe = (at: string) => execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", at]);

test("nothing is read from a pipe or a device; the null device is empty, a folder is no file", () => {
  const pipe = join(root, "pipe");
  makePipe(pipe);
  for (const read of [textIfPresent, lineIfReadable, jsonIfReadable, bytesOf])
    for (const path of [pipe, "/dev/zero"])
      expect(() => read(path)).toThrow(
        expect.objectContaining({ code: "not_a_file", message: expect.stringContaining(path) }),
      );
  expect([textIfPresent("/dev/null"), textIfPresent(root), lineIfReadable(root)]).toEqual([
    "",
    undefined,
    undefined,
  ]);
});

describe("something else in place of a file of pawl's", () => {
  const pawl = (...args: string[]) =>
    spawnSync(process.execPath, [program, ...args], {
      ...{ cwd: project.path, env: project.env, encoding: "utf8", timeout: 60_000, killSignal: "SIGKILL" },
    });
  /** Puts it there, looks what a command says, and puts everything back. */
  function instead(path: string, put: (at: string) => void, ...args: string[]) {
    const [at, kept] = [join(project.path, path), join(root, "kept")];
    renameSync(at, kept);
    put(at);
    const { status, stdout, stderr } = pawl(...args);
    rmSync(at, { recursive: true, force: true });
    renameSync(kept, at);
    return { status, said: stdout + stderr };
  }
  const log = () => {
    const [clone = ""] = readdirSync(join(project.path, ".pawl/state/events"));
    const [month = ""] = readdirSync(join(project.path, ".pawl/state/events", clone));
    return `.pawl/state/events/${clone}/${month}`;
  };

  test.each([
    [".git/pawl/home", "audit"],
    [".git/pawl/tips/main", "audit"],
    [".git/pawl/before", "doctor"],
    [".pawl/state/tasks/T0001/task.md", "audit"],
    ["the log", "audit"],
  ])("a pipe at %s is told by its path, and nobody waits for it: %s", (path, command) => {
    const at = path === "the log" ? log() : path;
    const { status, said } = instead(at, makePipe, command);
    expect([status, said]).toEqual([2, expect.stringContaining(at)]);
  });

  test.each([
    [".git/pawl/clone", mkdirSync, "task new x"],
    [".git/pawl/stamps", mkdirSync, "install --profile hooks --yes"],
    [".git/pawl/tips/main", mkdirSync, "audit"],
  ] as const)("a folder at %s is no bug of ours", (path, put, command) => {
    const { status, said } = instead(path, (at) => put(at), ...command.split(" "));
    expect(said).not.toContain("bug in pawl");
    expect(status).not.toBe(70);
  });

  test("a file in place of a folder is no bug of ours either", () => {
    mkdirSync(join(project.path, ".git/pawl/grants"), { recursive: true });
    const { status, said } = instead(".git/pawl/grants", (at) => writeFileSync(at, "x\n"), "audit");
    expect([status, said]).toEqual([0, expect.stringContaining("Everything is explained.")]);
  });
});
