import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { type Moment, momentsOf, testKills } from "../helpers/kills.ts";
import { runHere } from "../helpers/perform-job.ts";
import {
  copyRepository,
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { gitBytes, treeBytes } from "../helpers/tree-bytes.ts";
import { runJob } from "../helpers/worker-process.ts";

const USER: Record<string, string> = {
  "AGENTS.md": "# Rules\r\n\r\nBe kind.",
  ".codex/config.toml": '# ours\nmodel = "x"\n',
  ".agents/skills/mine/SKILL.md": "mine\n",
};
const install = { operation: "install", input: { agents: "codex" } };
const uninstall = { operation: "uninstall", input: { yes: true } };

let root: string;
let worker: string;
let count = 0;
beforeAll(async () => {
  root = makeTemporaryFolder("install crash");
  worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

/** Always at the same path, so that trees can be compared byte for byte; git's hooks name it. */
function fresh(): TemporaryRepository {
  const folder = join(root, `r${++count}`);
  const repository = makeRepository(folder);
  for (const [path, text] of Object.entries(USER)) {
    mkdirSync(dirname(join(repository.path, path)), { recursive: true });
    writeFileSync(join(repository.path, path), text);
  }
  return repository;
}

const looks = ({ path }: TemporaryRepository) => ({
  tree: treeBytes(path, [".pawl/state"]),
  git: gitBytes(join(path, ".git")),
});

/** The same kind of step many times over is tried at its first and its last. */
function isWorthKilling(moments: readonly Moment[], { n, name }: Moment): boolean {
  const kind = (one: string) => one.replace(/ \.?[\w-]*\/.*$/, "");
  const same = moments.filter((one) => kind(one.name) === kind(name));
  const nth = same.filter((one) => one.n <= n).length;
  return same.length < 4 || nth === 1 || nth === same.length || nth === same.length >> 1;
}

/** No file of the user's is ever seen in part. */
function expectWhole({ path }: TemporaryRepository, whole: Record<string, string>): void {
  for (const [name, text] of Object.entries(USER))
    expect([text, whole[name]], name).toContain(readFileSync(join(path, name), "utf8"));
}

function expectTidy({ path }: TemporaryRepository): void {
  const all = readdirSync(path, { recursive: true, encoding: "utf8" });
  expect(all.filter((one) => /pawl-new$|installing|\.removing|pawl\.lock|\.tmp-/.test(one))).toEqual([]);
}

describe("an installation with files", () => {
  testKills("install: the next one completes it, or an uninstall takes it back", {
    decided: "install journal",
    async kill(choose) {
      const model = fresh();
      const report = await runJob(worker, model, install);
      expect(report?.ok).toBe(true);
      const steps = report?.steps ?? [];
      const whole = looks(model);
      const texts = Object.fromEntries(
        Object.keys(USER).map((name) => [name, readFileSync(join(model.path, name), "utf8")]),
      );
      const moments = momentsOf(steps);
      for (const { n: at } of choose(moments, (one) => isWorthKilling(moments, one))) {
        const repository = fresh();
        const before = looks(repository);
        expect(await runJob(worker, repository, { ...install, killAtStep: at })).toBeUndefined();
        expectWhole(repository, texts);
        if (at % 2 === 0) {
          expect((await runJob(worker, repository, install))?.ok, steps[at - 1]).toBe(true);
          expect(looks(repository).tree, steps[at - 1]).toEqual(whole.tree);
        } else {
          const report = await runHere(repository, uninstall);
          expect(report, steps[at - 1]).toMatchObject({ ok: true });
          expect(looks(repository), steps[at - 1]).toEqual(before);
        }
        expectTidy(repository);
        rmSync(dirname(repository.path), { recursive: true, force: true });
      }
    },
  });

  testKills("uninstall: the next one completes it, or an install brings it back", {
    decided: "guard config write",
    async kill(choose) {
      const model = fresh();
      const before = looks(model);
      await runJob(worker, model, install);
      const whole = looks(model);
      const texts = Object.fromEntries(
        Object.keys(USER).map((name) => [name, readFileSync(join(model.path, name), "utf8")]),
      );
      const installed = copyRepository(model, join(root, "installed"));
      const steps = (await runJob(worker, model, uninstall))?.steps ?? [];
      expect(looks(model)).toEqual(before);
      const moments = momentsOf(steps);
      for (const { n: at } of choose(moments, (one) => isWorthKilling(moments, one))) {
        rmSync(model.path, { recursive: true });
        copyRepository(installed, model.path);
        expect(await runJob(worker, model, { ...uninstall, killAtStep: at })).toBeUndefined();
        expectWhole(model, texts);
        const next = at % 2 === 0 ? install : uninstall;
        expect((await runJob(worker, model, next))?.ok, steps[at - 1]).toBe(true);
        if (next === install) expect(looks(model).tree, steps[at - 1]).toEqual(whole.tree);
        else expect(looks(model), steps[at - 1]).toEqual(before);
        expectTidy(model);
      }
    },
  });

  test("eight installs at once are one, and so are eight uninstalls", {
    tags: ["proof"],
    timeout: 240_000,
  }, async () => {
    const repository = fresh();
    const before = looks(repository);
    const model = fresh();
    await runJob(worker, model, install);
    const all = (job: typeof install | typeof uninstall) =>
      Promise.all(Array.from({ length: 8 }, () => runJob(worker, repository, job)));
    const begun = await all(install);
    expect(begun.map((one) => (one?.ok ? true : one?.message))).toEqual(Array(8).fill(true));
    expect(looks(repository).tree).toEqual(looks(model).tree);
    const ended = await all(uninstall);
    expect(ended.map((one) => (one?.ok ? true : one?.message))).toEqual(Array(8).fill(true));
    expect(looks(repository)).toEqual(before);
    expectTidy(repository);
  });

  test("a file that somebody changed between the kill and the next run is left as it is", {
    tags: ["proof"],
  }, async () => {
    const repository = fresh();
    const copy = join(root, "copy");
    cpSync(repository.path, copy, { recursive: true });
    const steps = (await runJob(worker, { ...repository, path: copy }, install))?.steps ?? [];
    const at = steps.indexOf("install AGENTS.md") + 1;
    expect(at).toBeGreaterThan(0);
    expect(await runJob(worker, repository, { ...install, killAtStep: at })).toBeUndefined();
    writeFileSync(join(repository.path, "AGENTS.md"), "Written meanwhile.\n");
    expect((await runJob(worker, repository, install))?.ok).toBe(true);
    const text = readFileSync(join(repository.path, "AGENTS.md"), "utf8");
    expect(text).toContain("Written meanwhile.");
    expect((await runHere(repository, uninstall)).ok).toBe(true);
    expect(readFileSync(join(repository.path, "AGENTS.md"), "utf8")).toBe("Written meanwhile.\n");
    expect(existsSync(join(repository.path, ".pawl"))).toBe(false);
  });
});
