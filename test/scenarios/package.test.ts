import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderPlugin } from "../../src/installer/plugin/render.ts";
import { nodeFolder, OTHER_NODES } from "../helpers/node-versions.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { treeBytes } from "../helpers/tree-bytes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

let folder: string;
let installed: string;
let bin: string;
let tarball: string;
let packed: { path: string; size: number }[];
let unpackedSize: number;

/** What npm itself needs of this machine to reach its registry; the program under test gets none of it. */
const npmEnv = () => ({ ...process.env, npm_config_fund: "false", npm_config_audit: "false" });

beforeAll(async () => {
  folder = makeTemporaryFolder("package");
  const { stdout } = await run("npm", ["run", "--silent", "pack", "--", folder, "--json"], {
    cwd: root,
    env: npmEnv(),
  });
  const [pack] = JSON.parse(stdout.slice(stdout.indexOf("[")));
  tarball = join(folder, pack.filename);
  packed = pack.files;
  unpackedSize = pack.unpackedSize;
  installed = join(folder, "installed here");
  mkdirSync(installed);
  const install = ["install", "--prefix", installed, "--no-save", "--prefer-offline", tarball];
  await run("npm", install, { cwd: installed, env: npmEnv() });
  bin = join(installed, "node_modules", ".bin", "pawl");
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const pawl = (repo: TemporaryRepository, ...args: string[]) =>
  execFileSync(bin, args, {
    cwd: repo.path,
    env: repo.env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

describe("the packed program", () => {
  test("is small, has nothing of its development, and brings one package with it", () => {
    const manifest = JSON.parse(
      readFileSync(join(installed, "node_modules", "pawl", "package.json"), "utf8"),
    );
    for (const key of ["scripts", "devDependencies", "private"]) expect(manifest[key], key).toBeUndefined();
    expect(Object.keys(manifest.dependencies)).toEqual(["node-sqlite3-wasm"]);
    const packages = readdirSync(join(installed, "node_modules")).filter((name) => !name.startsWith("."));
    expect(packages.sort()).toEqual(["node-sqlite3-wasm", "pawl"]);
    expect(unpackedSize).toBeLessThan(5 * 1024 * 1024);
  });

  test("holds what is meant, and nothing else", () => {
    const MEANT = [
      /^dist\/(?:pawl|hook|supervise)\.cjs$/,
      /^dist\/(?:program|hook)-[\w-]{8}\.cjs$/,
      /^dist\/chunks\/[\w.-]+\.cjs$/,
      /^dist\/runtime\.json$/,
      /^hooks\/(?:ci|server)\/[\w.-]+$/,
      /^(?:README\.md|LICENSE|package\.json)$/,
      /^dist\/plugin\/plugins\/pawl\/\.claude-plugin\/icon\.png$/,
    ];
    const paths = packed.map(({ path }) => path);
    const plugin = renderPlugin("").map(({ path }) => `dist/plugin/${path}`);
    expect(paths.filter((path) => !MEANT.some((one) => one.test(path))).sort()).toEqual(plugin.sort());
    for (const path of ["dist/pawl.cjs", "README.md", "LICENSE", "hooks/server/pre-receive"])
      expect(paths).toContain(path);
    const texts = paths.map((path) => readFileSync(join(installed, "node_modules", "pawl", path), "utf8"));
    for (const text of texts) expect(text.includes(root)).toBe(false);
  });

  test("runs no text as code", () => {
    const dist = join(installed, "node_modules/pawl/dist");
    const scripts = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.[cm]?js$/.test(name),
    );
    expect(scripts.length).toBeGreaterThan(20);
    const evaluating = scripts.filter((name) => /\beval\(/.test(readFileSync(join(dist, name), "utf8")));
    expect(evaluating).toEqual([]);
  });

  test("is a package without mistakes", async () => {
    const { messages } = await publint({ pkgDir: join(installed, "node_modules", "pawl"), strict: true });
    expect(messages).toEqual([]);
  });

  test("is not made from the manifest of its development", () => {
    const pack = spawnSync("npm", ["pack", "--dry-run"], { cwd: root, env: npmEnv(), encoding: "utf8" });
    expect(pack.status).not.toBe(0);
    expect(pack.stderr).toContain("npm run pack");
  });

  test("is what npm makes of a git address: it is built when it is prepared, and dist is in it", {
    tags: ["proof"],
  }, () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(manifest.scripts.prepare).toBe("node scripts/prepare.mjs");
    expect(readFileSync(join(root, "scripts/prepare.mjs"), "utf8")).toContain("scripts/build.mjs");
    const out = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: root,
      env: npmEnv(),
    });
    const paths = JSON.parse(String(out))[0].files.map((one: { path: string }) => one.path);
    expect(paths).toContain("dist/pawl.cjs");
    const strange = /^(?!dist\/|hooks\/(?:ci|server)\/|README\.md$|LICENSE$|package\.json$)/;
    expect(paths.filter((path: string) => strange.test(path))).toEqual([]);
  });

  test("a read loads neither SQLite nor a YAML parser, gray-matter, a git library or the cryptography", {
    tags: ["proof"],
  }, () => {
    const repo = makeRepository(join(folder, "lazy"));
    pawl(repo, "install", "--commit");
    pawl(repo, "task", "new", "One");
    pawl(repo, "task", "update", "T1", "--status", "active");
    const spy = `const fs=require("fs"),read=fs.readFileSync,seen=[];fs.readFileSync=(...a)=>(seen.push(String(a[0])),read(...a));process.on("exit",()=>fs.writeSync(2,JSON.stringify([seen,Object.keys(require.cache),process.moduleLoadList])))`;
    writeFileSync(join(folder, "spy.cjs"), spy);
    const loadedWith = (listening: string, cwd: string, ...args: string[]) => {
      const spied = ["--require", join(folder, listening), ".pawl/pawl.cjs", ...args];
      const script = `node "$@" 2>&1 >/dev/null | tail -n 1`;
      const text = execFileSync("sh", ["-c", script, "sh", ...spied], {
        cwd,
        env: repo.env,
        encoding: "utf8",
      });
      return text.slice(text.indexOf("[["));
    };
    const loadedIn = (cwd: string, ...args: string[]) => loadedWith("spy.cjs", cwd, ...args);
    const loaded = (...args: string[]) => loadedIn(repo.path, ...args);
    const chunks = join(installed, "node_modules/pawl/dist/chunks");
    /** Found by a word of theirs, so that a chunk of another name cannot slip by. */
    const chunksWith = (word: string) => {
      const found = readdirSync(chunks).filter((name) =>
        readFileSync(join(chunks, name), "utf8").includes(word),
      );
      expect(found, word).not.toEqual([]);
      return found;
    };
    const [yaml, grayMatter] = ["Map keys must be unique", "excerpt_separator"].map(chunksWith);
    const sdk = chunksWith("notifications/initialized");
    // What only `check --fix` runs, with all that belongs to it.
    const verify = chunksWith("Run a check and record what happened");
    const heavies = [
      ...[...sdk, ...verify, ...(yaml ?? []), ...(grayMatter ?? [])],
      ...["sqlite", "run-git", "transaction"],
    ];
    const modules = ["crypto", "child_process", "module"].map((name) => `NativeModule ${name}`);
    const expectLight = (text: string, args: string[], but?: string) => {
      expect(text, args.join(" ")).toContain("program-");
      for (const heavy of [...heavies, ...modules].filter((one) => one !== but))
        expect(text.includes(heavy), `${args.join(" ")} loads ${heavy}`).toBe(false);
    };
    for (const args of [["status"], ["session"], ["task", "show", "T1"], ["task", "list"], ["task", "ready"]])
      expectLight(loaded(...args), args);
    expect(loaded("search", "one")).toContain("sqlite");
    // Once to list the tasks, for what is observed and what is gathered together, and once for the task itself.
    const read: string[] = JSON.parse(loaded("session"))[0];
    expect(read.filter((path) => path.endsWith("T0001/task.md"))).toHaveLength(2);

    // A clean worktree, on commits that were looked at before.
    const { worktree } = JSON.parse(pawl(repo, "start", "T1", "--json")).data.run.repos[0];
    const inside = { ...repo, path: join(repo.path, worktree) };
    // The index as young as a file in it, which otherwise only a quick machine shows.
    const work = `echo x > new && git add -A && git commit -q -m Work && touch -r new "$(git rev-parse --git-dir)/index"`;
    execFileSync("sh", ["-c", work], { cwd: inside.path, env: repo.env });
    pawl(inside, "verify", "--", "test", "-d", ".");
    pawl(inside, "handoff", "--what", "done", "--next", "approve");
    pawl(inside, "snapshot");
    const expectLightThere = (but?: string) => {
      const checks = ["plan", "review", "close"].map((stage) => ["check", "--stage", stage]);
      for (const one of [...checks, ["session"]]) {
        loadedIn(inside.path, ...one);
        expectLight(loadedIn(inside.path, ...one), one, but);
      }
    };
    // As young as its index, its files have to be read and hashed; later their times are enough.
    expectLightThere("NativeModule crypto");
    for (const cwd of [repo.path, inside.path])
      execFileSync("sh", ["-c", "sleep 0.05 && git update-index --force-write-index"], {
        cwd,
        env: repo.env,
      });
    expectLightThere();

    // What SQLite's own package asks for on a Node without SQLite is not ours to spare.
    const listener = `const m=require("node:module"),load=m._load,asked=[];m._load=function(id,from,...rest){asked.push([id,from?.filename??""]);return load.call(this,id,from,...rest)};process.on("exit",()=>require("fs").writeSync(2,JSON.stringify([asked])))`;
    writeFileSync(join(folder, "listener.cjs"), listener);
    for (const args of [["search", "one"], ["context"]]) {
      loadedIn(inside.path, ...args);
      const [asked = []]: [id: string, from: string][][] = JSON.parse(
        loadedWith("listener.cjs", inside.path, ...args),
      );
      const ours = asked.filter(([, from]) => !from.includes("node-sqlite3-wasm")).map(([id]) => id);
      expect(ours.filter((id) => /sqlite/.test(id)).length, args.join(" ")).toBeGreaterThan(0);
      expect(ours, args.join(" ")).not.toContain("node:child_process");
      expect(ours, args.join(" ")).not.toContain("node:crypto");
    }
  });

  test("compiled code is kept beside the program, which works without it or with a broken one", () => {
    const repo = makeRepository(join(folder, "compiled"));
    const dist = join(installed, "node_modules", "pawl", "dist");
    const caches = () =>
      readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".cache"));
    for (const name of caches()) rmSync(join(dist, name));
    pawl(repo, "task", "new", "One");
    const shown = pawl(repo, "task", "show", "T1");
    // Node 22 and newer keep compiled code by themselves, in a place of their own.
    if (process.versions.node.startsWith("20."))
      expect(caches().filter((name) => name.startsWith("program-"))).toHaveLength(1);
    for (const broken of [Buffer.alloc(0), Buffer.from("x"), Buffer.alloc(100_000, 7)]) {
      for (const name of caches()) writeFileSync(join(dist, name), broken);
      expect(pawl(repo, "task", "show", "T1")).toBe(shown);
      expect(pawl(repo, "task", "show", "T1")).toBe(shown);
    }
  });

  test("a closed pipe ends quietly", async () => {
    const repo = makeRepository(join(folder, "pipe"));
    for (let i = 0; i < 3; i++) pawl(repo, "task", "new", `Task ${i}`);
    const script = `'${bin}' task list --json | head -c 1 >/dev/null; '${bin}' task list | true`;
    const child = spawn("sh", ["-c", script], {
      cwd: repo.path,
      env: repo.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const code = await new Promise((done) => child.on("close", done));
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  test("search works from the tarball, in a path with spaces", () => {
    const repo = makeRepository(join(folder, "search"));
    pawl(repo, "task", "new", "Retry uploads");
    expect(pawl(repo, "search", "uploading")).toContain("T0001");
    expect(existsSync(join(repo.path, ".git", "pawl", "index.sqlite"))).toBe(true);
  });
});

describe("npx with the packed program, from an empty folder", () => {
  const npx = (cwd: string, path: string, ...args: string[]) =>
    run("npx", ["--yes", "--prefer-offline", `file:${tarball}`, ...args], {
      cwd,
      env: { ...npmEnv(), PATH: path, GIT_CONFIG_GLOBAL: join(folder, "gitconfig") },
    });

  test.each([process.versions.node.split(".")[0] ?? "", ...OTHER_NODES])(
    "works on Node %s",
    { tags: ["proof"], timeout: 300_000 },
    async (version) => {
      const first = OTHER_NODES.includes(version) ? `${nodeFolder(root, version, npmEnv())}:` : "";
      const path = `${first}${process.env.PATH}`;
      const { stdout } = await run("node", ["--version"], { env: { ...process.env, PATH: path } });
      expect(stdout).toMatch(`v${version}.`);
      const empty = join(folder, `empty on ${version}`);
      mkdirSync(empty);
      expect((await npx(empty, path, "--help")).stdout).toContain("pawl task new");
      await run("git", ["init", "-q", empty]);
      expect((await npx(empty, path, "task", "new", "First")).stdout).toContain("T0001 First");
      const found = await npx(empty, path, "search", "first");
      expect(found.stdout).toContain("T0001");
      expect(found.stderr).not.toContain("Warning");
    },
  );

  test("becomes a command by any path, in a folder with spaces too", {
    tags: ["proof"],
    timeout: 120_000,
  }, async () => {
    const deep = join(folder, "with space", "deep");
    mkdirSync(deep, { recursive: true });
    for (const [index, path] of [tarball, relative(deep, tarball)].entries()) {
      const prefix = join(folder, `global ${index}`);
      const install = ["install", "-g", "--prefix", prefix, "--prefer-offline", path];
      await run("npm", install, { cwd: deep, env: npmEnv() });
      const { stdout } = await run(join(prefix, "bin/pawl"), ["--help"], { cwd: deep });
      expect(stdout, path).toContain("pawl task new");
    }
    expect((await npx(deep, process.env.PATH ?? "", "--help")).stdout).toContain("pawl task new");
  });

  test("install copies the program into the clone, and leaves nothing behind when it goes", () => {
    const repo = makeRepository(join(folder, "install"));
    const before = treeBytes(repo.path);
    const told = JSON.parse(pawl(repo, "install", "--json")).data.install;
    expect(told.runtime).toBeGreaterThan(20);
    expect(told.written.length).toBeLessThan(70);
    const launcher = (...args: string[]) =>
      execFileSync(process.execPath, [".pawl/pawl.cjs", ...args], {
        ...{ cwd: repo.path, env: repo.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
      }) as string;
    expect(launcher("--version").trim()).toBe(
      JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version,
    );
    expect(JSON.parse(launcher("doctor", "--json")).data.doctor.diagnoses).toEqual([]);
    expect(JSON.parse(launcher("install", "--json")).data.install).toMatchObject({ written: [], runtime: 0 });
    // The package is gone, as npx's is; the clone's own copy does everything, search included.
    launcher("task", "new", "Retry uploads");
    expect(launcher("search", "uploading")).toContain("T0001");
    rmSync(join(repo.path, ".git/pawl/runtime/pawl.cjs"));
    expect(JSON.parse(pawl(repo, "install", "--json")).data.install.runtime).toBe(1);
    launcher("uninstall", "--yes");
    expect(treeBytes(repo.path, [".pawl"])).toEqual(before);
    expect(existsSync(join(repo.path, ".git/pawl/runtime"))).toBe(false);
  });
});
