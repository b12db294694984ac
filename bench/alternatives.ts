import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStore } from "./helpers/fill-store.ts";
import { median } from "./helpers/measured-project.ts";

/**
 * The same two things done with other task tools that npm has, side by side: list 1,000 tasks, make one more. They are
 * installed into a cache, without their install scripts, which would write into this project.
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const TASKS = 1_000;
const ALTERNATIVES = { "backlog.md": "1.52.0", "task-master-ai": "0.43.1" };
const cache = join(process.cwd(), "node_modules", ".cache", "pawl-peers");
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const pawl = [process.execPath, join(process.cwd(), "dist", "pawl.cjs")];
/** An inherited NODE_EXTRA_CA_CERTS alone doubles the start of Node 20. */
const env: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: folder,
  GIT_CONFIG_NOSYSTEM: "1",
  NO_COLOR: "1",
};

interface Tool {
  name: string;
  /** Where it is installed, with everything that it brings. */
  installed: string;
  list: string[];
  create: string[];
  /** Makes a project with this many tasks, in the tool's own files. */
  fill(repo: string): void;
}

const modulesOf = (name: string) => join(cache, name, "node_modules");

function install(name: string, spec: string): void {
  if (existsSync(join(modulesOf(name), name))) return;
  process.stderr.write(`installing ${spec} into the cache …\n`);
  mkdirSync(join(cache, name), { recursive: true });
  const args = [
    "install",
    "--prefix",
    join(cache, name),
    "--no-save",
    "--no-package-lock",
    "--ignore-scripts",
  ];
  const done = spawnSync("npm", [...args, "--no-audit", "--no-fund", spec], { stdio: "ignore" });
  if (done.status !== 0) process.stderr.write(`${spec} could not be installed and is left out.\n`);
}

function packPawl(): string {
  const [packed] = JSON.parse(
    execFileSync(process.execPath, ["scripts/pack.mjs", folder, "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
  rmSync(join(cache, "pawl"), { recursive: true, force: true });
  return join(folder, packed.filename);
}

const backlog = [join(modulesOf("backlog.md"), ".bin", "backlog")];
const taskMaster = [
  process.execPath,
  join(modulesOf("task-master-ai"), "task-master-ai/dist/task-master.js"),
];

const TOOLS: Tool[] = [
  {
    name: "pawl",
    installed: modulesOf("pawl"),
    list: [...pawl, "task", "list"],
    create: [...pawl, "task", "new", "One more", "--objective", "To be measured"],
    fill: (repo) => fillStore(repo, pawl, env, TASKS),
  },
  {
    name: "backlog.md",
    installed: modulesOf("backlog.md"),
    list: [...backlog, "task", "list", "--plain"],
    create: [...backlog, "task", "create", "One more", "-d", "To be measured", "--plain"],
    fill: fillBacklog,
  },
  {
    name: "task-master-ai",
    installed: modulesOf("task-master-ai"),
    list: [...taskMaster, "list"],
    create: [...taskMaster, "add-task", "--title=One more", "--description=To be measured"],
    fill: fillTaskMaster,
  },
];

function fillBacklog(repo: string): void {
  expect([...backlog, "init", "bench", "--defaults", "--integration-mode", "none"], repo);
  for (let id = 1; id <= TASKS; id++)
    writeFileSync(
      join(repo, "backlog/tasks", `task-${id} - Task-${id}.md`),
      `---\nid: TASK-${id}\ntitle: Task ${id}\nstatus: To Do\nassignee: []\ncreated_date: '2026-11-16 09:00'\nlabels: []\ndependencies: []\nordinal: ${id}000\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nTo be measured\n<!-- SECTION:DESCRIPTION:END -->\n`,
    );
  execFileSync("git", ["add", "-A"], { cwd: repo, env });
  execFileSync("git", ["commit", "-q", "-m", "Tasks"], { cwd: repo, env });
}

function fillTaskMaster(repo: string): void {
  expect([...taskMaster, "init", "-y", "--name", "bench", "--no-aliases", "--no-git"], repo);
  const tasks = Array.from({ length: TASKS }, (_, index) => ({
    ...{
      id: index + 1,
      title: `Task ${index + 1}`,
      description: "To be measured",
      details: "",
      testStrategy: "",
    },
    ...{ priority: "medium", dependencies: [], status: "pending", subtasks: [] },
  }));
  const time = "2026-11-16T09:00:00.000Z";
  const metadata = { created: time, updated: time, description: "bench" };
  writeFileSync(join(repo, ".taskmaster/tasks/tasks.json"), JSON.stringify({ master: { tasks, metadata } }));
}

function expect(command: readonly string[], cwd: string): number {
  const [program = "", ...args] = command;
  const started = process.hrtime.bigint();
  const done = spawnSync(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 2 ** 28 });
  if (done.status !== 0) throw new Error(`${command.join(" ")} ended with ${done.status}: ${done.stderr}`);
  return Number(process.hrtime.bigint() - started) / 1e6;
}

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Packages by name, whatever npm nested where. */
function packagesIn(modules: string): number {
  return readdirSync(modules, { recursive: true, encoding: "utf8" }).filter((path) =>
    /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(path),
  ).length;
}

function versionOf({ name, installed }: Tool): string {
  return JSON.parse(readFileSync(join(installed, name, "package.json"), "utf8")).version;
}

try {
  writeFileSync(join(folder, ".gitconfig"), "[user]\n\tname = Bench\n\temail = bench@example.com\n");
  for (const [name, version] of Object.entries(ALTERNATIVES)) install(name, `${name}@${version}`);
  install("pawl", packPawl());
  const tools = TOOLS.filter(({ name, installed }) => existsSync(join(installed, name)));
  const took = new Map<string, number[]>([["node", []]]);
  const repos = new Map<Tool, string>();
  for (const tool of tools) {
    const repo = join(folder, tool.name);
    mkdirSync(repo);
    execFileSync("git", ["init", "-q", "-b", "main"], { cwd: repo, env });
    execFileSync("git", ["commit", "-q", "--allow-empty", "-m", "Begin"], { cwd: repo, env });
    process.stderr.write(`filling ${tool.name} with ${TASKS} tasks …\n`);
    tool.fill(repo);
    repos.set(tool, repo);
  }
  const note = (key: string, ms: number) => took.set(key, [...(took.get(key) ?? []), ms]);
  for (let round = -1; round < ROUNDS; round++) {
    process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`);
    const floor = expect([process.execPath, "-e", "0"], folder);
    for (const [tool, repo] of repos)
      for (const what of ["list", "create"] as const) {
        const ms = expect(tool[what], repo);
        if (round >= 0) note(`${tool.name} ${what}`, ms);
      }
    if (round >= 0) note("node", floor);
  }
  const floor = median(took.get("node") ?? []);
  const figure = (key: string) => {
    const ms = median(took.get(key) ?? []);
    return `${ms.toFixed(0)} ms, ${(ms / floor).toFixed(1)} ×`;
  };
  const rows = [
    ["tool", `list ${TASKS} tasks`, "make one more", "installed", "packages"],
    ...tools.map((tool) => [
      `${tool.name} ${versionOf(tool)}`,
      figure(`${tool.name} list`),
      figure(`${tool.name} create`),
      `${(sizeOf(tool.installed) / 1e6).toFixed(1)} MB`,
      String(packagesIn(tool.installed)),
    ]),
    ["node -e 0", `${floor.toFixed(0)} ms, 1 ×`, "", "", ""],
  ];
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? [];
  for (const row of rows)
    console.log(
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  console.log(`medians of ${ROUNDS} interleaved rounds, ratios to node -e 0, Node ${process.version}`);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
