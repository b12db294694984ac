import { cpSync, existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { discover } from "../../src/git/discover.ts";
import { findHome } from "../../src/store/home.ts";
import { openReader } from "../../src/store/reader.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

const RUNS = 30;

/** One real run under many names, seen so much later that the files count as settled. */
async function fill(project: Project) {
  await project.pawl("task", "new", "Many runs");
  await project.pawl("start", "T1");
  const folder = join(stateOf(project), "tasks", "T0001", "runs");
  const file = (nth: number) => join(folder, `R${nth}`, "run.md");
  for (let nth = 2; nth <= RUNS; nth++) {
    cpSync(join(folder, "R1"), join(folder, `R${nth}`), { recursive: true });
    writeFileSync(file(nth), readFileSync(file(1), "utf8").replaceAll("T0001/R1", `T0001/R${nth}`));
  }
  const place = discover(project.path);
  if (!place) throw new Error("the project is a repository");
  const home = findHome(place, project.path);
  return {
    file,
    cache: join(home.local, "runs.cache"),
    list: () => openReader(findHome(place, project.path), undefined, Date.now() + 5_000).runs(["T0001"]),
  };
}

test("what is remembered of many runs says what their files say", async ({ project }) => {
  const { list, cache, file } = await fill(project);
  const cold = list();
  expect(cold.problems).toEqual([]);
  expect(cold.runs.map((one) => one.id)).toEqual(Array.from({ length: RUNS }, (_, at) => `T0001/R${at + 1}`));
  expect(existsSync(cache)).toBe(true);
  expect(JSON.parse(JSON.stringify(list()))).toEqual(JSON.parse(JSON.stringify(cold)));

  // As long as before, and with the old times put back: only the file itself can tell.
  const text = readFileSync(file(7), "utf8");
  writeFileSync(
    file(7),
    text.replace(/holder: .*/, (line) => `${line.slice(0, -4)}nne"`),
  );
  utimesSync(file(7), 1_000, 1_000);
  expect(list().runs[6]?.holder).not.toBe(cold.runs[6]?.holder);

  writeFileSync(file(8), text.replace("status:", "state:"));
  const { runs, problems } = list();
  expect(runs).toHaveLength(RUNS - 1);
  expect(problems.map((one) => one.file)).toEqual(["tasks/T0001/runs/R8/run.md"]);
});

test("what another pawl remembered, and what nobody can read, is made anew", async ({ project }) => {
  const { list, cache } = await fill(project);
  const cold = list();
  const kept = JSON.parse(readFileSync(cache, "utf8"));
  kept.rows[0][4].holder = "agent:somebody";
  for (const damaged of [JSON.stringify({ ...kept, schema: "older" }), "{", "[]", '{"schema": null}']) {
    writeFileSync(cache, damaged);
    expect(list().runs.map((one) => one.holder)).toEqual(cold.runs.map((one) => one.holder));
  }
});
