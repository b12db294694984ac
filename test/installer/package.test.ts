import { execFile, execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packArchive } from "../../src/installer/runtime/archive.ts";
import { ownPackage } from "../../src/installer/runtime/package.ts";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { inDialogue } from "../helpers/pseudo-terminal.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { treeBytes } from "../helpers/tree-bytes.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const VENDORED = `.pawl/vendor/pawl-${version}.tgz`;
const run = promisify(execFile);

let root: string;
let program: BuiltProgram;
/** A project that carries the package, with its commit. */
let carrying: TemporaryRepository;
/** One that names the package and does not have it. */
let naming: TemporaryRepository;
let names = 0;

beforeAll(() => {
  root = makeTemporaryFolder("packages");
  program = buildProgram();
  carrying = makeRepository(join(root, "carrying"));
  writeFileSync(join(carrying.path, ".gitignore"), "*.tgz\nvendor/\n");
  writeFileSync(join(carrying.path, ".gitattributes"), "* text\n*.tgz filter=lfs diff=lfs\n");
  git(carrying, "add", "-A");
  git(carrying, "commit", "-qm", "Rules of a project that packs things");
  pawl(carrying, "install", "--vendor", "--commit");
  naming = makeRepository(join(root, "naming"));
  pawl(naming, "install", "--commit");
}, 120_000);
afterAll(() => {
  program.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

function git(at: TemporaryRepository, ...args: string[]): string {
  return execFileSync("git", args, { cwd: at.path, env: at.env, encoding: "utf8", stdio: "pipe" }).trim();
}

/** What a built program answers, as its user would start it. */
function pawl(at: TemporaryRepository, ...args: string[]) {
  const done = spawnSync(process.execPath, [program.pawl, ...args, "--json"], {
    ...{ cwd: at.path, env: at.env, encoding: "utf8" },
  });
  const json = JSON.parse(done.stdout || "null");
  if (!args.includes("--fails")) expect(json?.error, done.stderr).toBe(undefined);
  return json;
}

function clone(from: TemporaryRepository): TemporaryRepository {
  const path = join(root, `clone ${++names}`);
  git(from, "clone", "-q", from.path, path);
  return { path, env: from.env };
}

/** Nothing but node and git can be started: no npm, and so no registry. */
function withoutNpm({ path, env }: TemporaryRepository): TemporaryRepository {
  const bin = join(root, "bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["git", "sh", "env"]) {
    const found = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${found} "$@"\n`, { mode: 0o755 });
  }
  return { path, env: { ...env, PATH: bin } };
}

const launch = ({ path, env }: TemporaryRepository, ...args: string[]) => {
  const done = spawnSync(process.execPath, args, { cwd: path, env, encoding: "utf8" });
  return { code: done.status, out: done.stdout, err: done.stderr };
};

describe("pawl install --vendor", () => {
  test("tracks the package unchanged, whatever the project's rules say about such files", () => {
    expect(git(carrying, "status", "--porcelain")).toBe("");
    const committed = execFileSync("git", ["cat-file", "blob", `HEAD:${VENDORED}`], {
      ...{ cwd: carrying.path, env: carrying.env, maxBuffer: 2 ** 26 },
    });
    expect(committed.equals(readFileSync(join(carrying.path, VENDORED)))).toBe(true);
    const ledger = JSON.parse(readFileSync(join(carrying.path, ".pawl/lock.json"), "utf8"));
    const digest = createHash("sha256").update(committed).digest("hex");
    expect(ledger.package).toBe(ownPackage(program.folder)?.digest);
    expect(ledger.files).toContainEqual(expect.objectContaining({ path: VENDORED, sha256: digest }));
  });

  test("a second install changes nothing, and the clone's own copy packs the same bytes", () => {
    const before = treeBytes(carrying.path, [".git"]);
    expect(pawl(carrying, "install").data.install).toMatchObject({ written: [], removed: [], runtime: 0 });
    expect(treeBytes(carrying.path, [".git"])).toEqual(before);
    const copy = ownPackage(join(carrying.path, ".git/pawl/runtime"));
    expect(copy?.archive().equals(readFileSync(join(carrying.path, VENDORED)))).toBe(true);
  });

  test("is removed by uninstall, to the byte", { tags: ["proof"] }, () => {
    const at = clone(carrying);
    git(at, "rm", "-rqf", ".");
    git(at, "checkout", "-q", "HEAD~1", "--", ".");
    git(at, "commit", "-qm", "As before");
    const before = treeBytes(at.path);
    pawl(at, "install", "--vendor");
    expect(existsSync(join(at.path, VENDORED))).toBe(true);
    pawl(at, "uninstall", "--yes");
    expect(treeBytes(at.path)).toEqual(before);
  });

  test("adds a package that npm can run without a registry", {
    tags: ["proof"],
    timeout: 60_000,
  }, async () => {
    const env = {
      ...process.env,
      npm_config_registry: "http://127.0.0.1:9",
      npm_config_cache: join(root, "cache"),
    };
    const file = `file:${join(carrying.path, VENDORED)}`;
    const { stdout } = await run("npx", ["--yes", file, "--version"], { cwd: root, env });
    expect(stdout.trim()).toBe(version);
  });
});

describe("a fresh clone", () => {
  test("gets the package that it carries, without a registry", () => {
    const at = withoutNpm(clone(carrying));
    expect(launch(at, ".pawl/pawl.cjs", "status")).toMatchObject({
      code: 2,
      err: expect.stringContaining("node .pawl/get.cjs"),
    });
    expect(launch(at, ".pawl/get.cjs")).toMatchObject({ code: 0, err: expect.any(String) });
    expect(launch(at, ".pawl/pawl.cjs", "--version")).toEqual({ code: 0, out: `${version}\n`, err: "" });
    expect(git(clone(carrying), "status", "--porcelain")).toBe("");
  });

  test("asks on a terminal, then runs the command", { tags: ["proof"] }, async () => {
    const at = clone(carrying);
    const no = await inDialogue([process.execPath, ".pawl/pawl.cjs", "status"], at, [[/\[Y\/n\] $/, "n\n"]]);
    expect([no.code, no.out]).toEqual([2, expect.stringContaining("  node .pawl/get.cjs")]);
    expect(no.out).toContain(`Install it here from ${VENDORED}? [Y/n]`);
    const stopped = await inDialogue([process.execPath, ".pawl/pawl.cjs", "status"], at, [
      [/\[Y\/n\] $/, "\u0003"],
    ]);
    expect([stopped.code, stopped.out]).toEqual([
      130,
      expect.stringContaining("Stopped; nothing was installed."),
    ]);
    expect(existsSync(join(at.path, ".git/pawl"))).toBe(false);
    const yes = await inDialogue([process.execPath, ".pawl/pawl.cjs", "status"], at, [
      [/\[Y\/n\] $/, "\n"],
      [/\[Y\/n\] $|Type [^\n]+: $/, "yes\n"],
    ]);
    expect([yes.code, yes.out]).toEqual([0, expect.stringContaining("pawl start")]);
    expect(existsSync(join(at.path, ".git/pawl/runtime/pawl.cjs"))).toBe(true);
  });

  test("refuses a package other than the one named, and runs nothing of it", () => {
    const at = clone(carrying);
    const bytes = readFileSync(join(at.path, VENDORED));
    // One letter of a file in it; the archive is otherwise what it was.
    const changed = Buffer.from(bytes);
    const where = changed.indexOf("Nothing was changed");
    expect(where).toBeGreaterThan(0);
    changed.write("n", where);
    const files = ["pawl.cjs", "runtime.json"].map((name) => ({
      name: `package/dist/${name}`,
      bytes: Buffer.from(name === "pawl.cjs" ? "process.exit(77)" : '{"version":"0.1.0","files":{}}'),
      executable: false,
    }));
    for (const wrong of [changed, Buffer.from("no archive"), packArchive(files)]) {
      writeFileSync(join(at.path, VENDORED), wrong);
      const { code, err } = launch(at, ".pawl/get.cjs");
      expect([code, err]).toEqual([1, expect.stringContaining("Nothing of it was run")]);
      expect(existsSync(join(at.path, ".git/pawl"))).toBe(false);
    }
    // What a commit has counts where it is asked for, whatever lies in the files or another commit is to replace it with.
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: at.path, env: at.env, encoding: "utf8" });
    const empty = git("hash-object", "-t", "tree", "--stdin", "-w").trim();
    git("replace", "HEAD", git("commit-tree", empty, "-m", "Another").trim());
    const into = join(root, `package ${++names}`);
    expect(launch(at, ".pawl/get.cjs", "--base", "HEAD", "--into", into, "--offline")).toMatchObject({
      code: 0,
    });
    expect(launch(at, join(into, "dist/pawl.cjs"), "--version").out).toBe(`${version}\n`);
  });

  test("accepts an installed pawl only if it is the same", () => {
    const at = clone(naming);
    const into = join(root, `package ${++names}`);
    const get = (file: string) => launch(at, ".pawl/get.cjs", "--into", into, file);
    const other = join(root, `other ${++names}`);
    cpSync(program.folder, other, { recursive: true });
    const [chunk = ""] = readdirSync(join(other, "chunks"));
    writeFileSync(join(other, "chunks", chunk), "process.exit(77)\n");
    expect(get(join(other, "pawl.cjs"))).toMatchObject({
      code: 1,
      err: expect.stringContaining(`chunks/${chunk}`),
    });
    expect(existsSync(into)).toBe(false);
    expect(get(program.pawl)).toMatchObject({ code: 0 });
    expect(launch(at, join(into, "dist/pawl.cjs"), "--version").out).toBe(`${version}\n`);
    expect(get(program.pawl)).toMatchObject({ code: 3 });
  });

  test("finds the user's installed pawl; without one it names the ways to get it", {
    tags: ["proof"],
  }, () => {
    const at = withoutNpm(clone(naming));
    const lost = launch(at, ".pawl/get.cjs");
    expect([lost.code, lost.err]).toEqual([
      2,
      expect.stringMatching(
        /npm could not get[\s\S]*whose digest \.pawl\/lock\.json names, then\n {2}node \.pawl\/get\.cjs \/path/,
      ),
    ]);
    const bin = join(root, `bin ${++names}`);
    mkdirSync(bin);
    symlinkSync(program.pawl, join(bin, "pawl"));
    const env = { ...at.env, PATH: `${bin}:${at.env.PATH}` };
    // Where nobody can be asked it serves without being installed here; without it, a file is asked for.
    const used = launch({ ...at, env }, ".pawl/pawl.cjs", "--version");
    expect(used).toEqual({ code: 0, out: `${version}\n`, err: "" });
    expect(existsSync(join(at.path, ".git/pawl"))).toBe(false);
    expect(launch(at, ".pawl/pawl.cjs", "--version")).toMatchObject({
      code: 2,
      err: expect.stringMatching(/comes as a file[\s\S]*node \.pawl\/get\.cjs \/path\/to\/pawl-/),
    });
    expect(launch({ ...at, env }, ".pawl/get.cjs", "--yes")).toMatchObject({ code: 0 });
    expect(launch(at, ".pawl/pawl.cjs", "--version").out).toBe(`${version}\n`);
  });

  describe("with a registry", () => {
    let registry: Server;
    let archive: Buffer;
    beforeAll(async () => {
      registry = createServer((request, response) => {
        const { port } = registry.address() as AddressInfo;
        if (request.url?.endsWith(".tgz")) return response.end(archive);
        const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
        const dist = { tarball: `http://127.0.0.1:${port}/pawl.tgz`, integrity };
        response.setHeader("content-type", "application/json");
        const one = { name: "pawl", version, bin: "dist/pawl.cjs", scripts: { install: "exit 77" }, dist };
        return response.end(
          JSON.stringify({ name: "pawl", "dist-tags": { latest: version }, versions: { [version]: one } }),
        );
      });
      await new Promise<void>((ready) => registry.listen(0, "127.0.0.1", ready));
    });
    afterAll(() => new Promise((gone) => registry.close(gone)));

    const address = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    const fetching = async (at: TemporaryRepository, npm: object = { npm_config_registry: address() }) => {
      const env = {
        ...at.env,
        ...npm,
        npm_config_cache: join(root, `cache ${++names}`),
      };
      return run(process.execPath, [".pawl/get.cjs"], { cwd: at.path, env }).then(
        () => ({ code: 0, err: "" }),
        (error: { code: number; stderr: string }) => ({ code: error.code, err: error.stderr }),
      );
    };

    test("a stranger's package with that name and version is refused, and nothing of it runs", async () => {
      const at = clone(naming);
      const ran = join(root, "ran");
      const evil = `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "")`;
      const manifest = {
        name: "pawl",
        version,
        bin: { pawl: "dist/pawl.cjs" },
        scripts: { install: `node -e '${evil}'` },
      };
      archive = packArchive(
        Object.entries({
          "package.json": JSON.stringify(manifest),
          "dist/pawl.cjs": evil,
          "dist/runtime.json": JSON.stringify({ version, files: {} }),
        }).map(([name, text]) => ({ name: `package/${name}`, bytes: Buffer.from(text), executable: false })),
      );
      const { code, err } = await fetching(at);
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`pawl@${version} from npm's registry is not the package`),
      ]);
      expect(err).toContain("pawl install --vendor --commit");
      expect([existsSync(ran), existsSync(join(at.path, ".git/pawl"))]).toEqual([false, false]);
    }, 60_000);

    test("the real package is accepted", { tags: ["proof"], timeout: 60_000 }, async () => {
      const at = clone(naming);
      archive = readFileSync(join(carrying.path, VENDORED));
      expect(await fetching(at)).toEqual({ code: 0, err: "" });
      expect(launch(at, ".pawl/pawl.cjs", "--version").out).toBe(`${version}\n`);
    });

    test("npm uses this machine's configuration", { tags: ["proof"], timeout: 60_000 }, async () => {
      const at = clone(naming);
      archive = readFileSync(join(carrying.path, VENDORED));
      // The npmrc of all users lies below the prefix, which an option --prefix would change.
      const prefix = join(root, `prefix ${++names}`);
      mkdirSync(join(prefix, "etc"), { recursive: true });
      writeFileSync(join(prefix, "etc/npmrc"), `registry=${address()}\n`);
      expect(await fetching(at, { npm_config_prefix: prefix })).toEqual({ code: 0, err: "" });
    });
  });
});

test("another build of the same version is refused unless somebody upgrades to it", {
  tags: ["proof"],
}, () => {
  const at = clone(carrying);
  const path = join(at.path, ".pawl/lock.json");
  const text = readFileSync(path, "utf8");
  const named = JSON.parse(text).package;
  writeFileSync(path, text.replace(named, "0".repeat(64)));
  const error = JSON.parse(
    spawnSync(process.execPath, [program.pawl, "install", "--json"], {
      cwd: at.path,
      env: at.env,
      encoding: "utf8",
    }).stdout,
  ).error;
  expect([error.code, error.hint]).toEqual([
    "another_package",
    expect.stringMatching(/get\.cjs\n.*pawl upgrade/),
  ]);
  expect(existsSync(join(at.path, ".git/pawl/runtime"))).toBe(false);
  pawl(at, "upgrade");
  expect(readFileSync(path, "utf8")).toBe(text);
  const told = () => {
    const { diagnoses } = pawl(at, "doctor").data.doctor;
    return diagnoses
      .map((one: { code: string }) => one.code)
      .filter((code: string) => code.startsWith("runtime_"));
  };
  expect(told()).toEqual([]);
  writeFileSync(path, text.replace(named, "0".repeat(64)));
  expect(told()).toEqual(["runtime_another"]);
});
