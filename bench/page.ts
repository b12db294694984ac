import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Page } from "playwright-core";
import { hasBrowser, launchBrowser } from "../test/helpers/browser.ts";
import { terminalFor } from "../test/helpers/pseudo-terminal.ts";
import { serveLibraries } from "./helpers/diff-libraries.ts";
import {
  cleanEnv,
  LAUNCHER,
  makeTaskAmong,
  median,
  printRows,
  type Row,
  run,
} from "./helpers/measured-project.ts";

/** What the page costs: until it listens, until a browser shows it, until an event is there, and what a large diff does to a tab. */
const ROUNDS = Number(process.argv[2] ?? 11);
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const env = cleanEnv(folder);

interface Served {
  /** From the start of the program to its link. */
  ms: number;
  link: string;
  /** Another link: Enter prints one. */
  next(): Promise<string>;
  close(): Promise<void>;
}

/** `pawl ui` on a terminal of its own, as a person starts it. */
function serve(cwd: string): Promise<Served> {
  const started = process.hrtime.bigint();
  const [command, args] = terminalFor([...LAUNCHER, "ui", "--no-open"]);
  const child = spawn(command, args, {
    cwd,
    env: { ...env, TERM: "dumb" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((done) => child.on("close", () => done()));
  let [out, links] = ["", 0];
  const nextLink = () =>
    new Promise<string>((found) => {
      const look = () => {
        const link = [...out.matchAll(/http:\S+#[\w-]+/g)][links]?.[0];
        if (link === undefined) return;
        links++;
        child.stdout.off("data", look);
        found(link);
      };
      child.stdout.on("data", look);
      look();
    });
  child.stdout.on("data", (chunk) => {
    out += String(chunk);
  });
  return nextLink().then((link) => ({
    ms: Number(process.hrtime.bigint() - started) / 1e6,
    link,
    next() {
      child.stdin.write("\n");
      return nextLink();
    },
    close() {
      child.stdin.write("\u0003");
      return ended;
    },
  }));
}

/** The same floor for all of it: a terminal that starts an empty Node. */
function floor(cwd: string): number {
  const [command, args] = terminalFor([process.execPath, "-e", "0"]);
  return run([command, ...args], cwd, env).ms;
}

async function listening(repo: string): Promise<Row> {
  const [took, floors]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(floor(repo));
    const served = await serve(repo);
    took.push(served.ms);
    await served.close();
  }
  const ms = median(took);
  return { what: "pawl ui until it listens, 1,000 tasks", ms, ratio: ms / median(floors), most: 1.8 };
}

/** Milliseconds until the browser has painted something of the page. */
async function paint(page: Page, address: string): Promise<number> {
  await page.goto(address, { waitUntil: "load" });
  return Number(
    await page.evaluate(
      `new Promise((done) => new PerformanceObserver((list) => done(list.getEntries()[0].startTime)).observe({ type: "paint", buffered: true }))`,
    ),
  );
}

async function inBrowser(repo: string, tasks: number, task: string): Promise<Row[]> {
  const served = await serve(repo);
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(served.link);
  await page.waitForURL((url) => url.pathname === "/");
  const { origin } = new URL(page.url());
  const [home, nothing]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    nothing.push(await paint(page, `${origin}/nothing`));
    home.push(await paint(page, `${origin}/`));
  }
  const rows: Row[] = [
    {
      what: `home with ${tasks} tasks, first paint, against a page that says "not here"`,
      ms: median(home),
      ratio: median(home) / median(nothing),
    },
  ];
  if (tasks === 1_000) {
    rows.push(await eventToPage(page, origin, repo, task), ...(await largeDiff(page, origin, repo)));
    rows.push(...(await manyRuns(page, origin, repo, task)));
  }
  await browser.close();
  await served.close();
  return rows;
}

/** When the tabs of a task, with their counters, were last renewed. */
const RENEWED = `new Promise((done) => new MutationObserver(() => done(Date.now())).observe(document.getElementById("tabs"), { childList: true }))`;

/** From the moment at which a finding's event is in the log to the new counter in an open tab. */
async function eventToPage(page: Page, origin: string, repo: string, task: string): Promise<Row> {
  await page.goto(`${origin}/t/${task}`);
  await page.locator("#live").waitFor();
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const seen = page.evaluate(RENEWED);
    // The evaluation has to be under way before the command runs, which blocks this process.
    await page.evaluate("0");
    const severity = ["--severity", "low", "--kind", "branch"];
    run([...LAUNCHER, "finding", "add", `Odd ${round}`, ...severity, "--task", task], repo, env);
    took.push(Number(await seen) - lastWritten(join(repo, ".pawl", "state", "events")));
    await page.waitForTimeout(300);
  }
  const ms = median(took);
  return { what: "event to page, in units of 50 ms", ms, ratio: ms / 50, most: 1 };
}

const lastWritten = (folder: string) =>
  Math.max(
    ...readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => statSync(join(folder, name)).mtimeMs),
  );

const LONGEST = `globalThis.longest = 0; new PerformanceObserver((list) => { for (const one of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, one.duration); }).observe({ type: "longtask", buffered: true });`;

interface Drawn {
  painted: number;
  /** Until what is in view can be read. */
  readable: number;
  nodes: number;
  longest: number;
}

const PATIENCE_MS = 120_000;

/** A page in a tab of its own, until `ready` is true of it. */
async function drawn(page: Page, address: string, ready: string): Promise<Drawn> {
  const tab = await page.context().newPage();
  await tab.addInitScript(LONGEST);
  await tab.goto(address, { waitUntil: "commit" });
  const readable = Number(
    await tab.evaluate(
      `new Promise((done, fail) => { setTimeout(() => fail(new Error("Never drawn: " + location)), ${PATIENCE_MS}); const look = () => ((${ready}) ? done(performance.now()) : requestAnimationFrame(look)); look(); })`,
    ),
  );
  const painted = await tab.evaluate(
    `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`,
  );
  await tab.waitForTimeout(1_000);
  const nodes = Number(await tab.evaluate(`document.querySelectorAll("*").length`));
  const longest = Number(await tab.evaluate("globalThis.longest"));
  await tab.close();
  return { painted: Number(painted), readable, nodes, longest };
}

const LARGE_ROUNDS = 3;

async function medianDrawn(page: Page, address: string, ready: string): Promise<Drawn> {
  const all: Drawn[] = [];
  for (let round = 0; round < LARGE_ROUNDS; round++) all.push(await drawn(page, address, ready));
  const of = (name: keyof Drawn) => median(all.map((one) => one[name]));
  return { painted: of("painted"), readable: of("readable"), nodes: of("nodes"), longest: of("longest") };
}

/** Many files with 22,000 changed lines together, beside two libraries, and one file with 20,000. */
async function largeDiff(page: Page, origin: string, repo: string): Promise<Row[]> {
  const made = run([...LAUNCHER, "task", "new", "Large", "--profile", "light", "--json"], repo, env);
  const { id } = JSON.parse(made.out).data.task;
  const started = run([...LAUNCHER, "start", id, "--json"], repo, env);
  const worktree = join(repo, JSON.parse(started.out).data.run.repos[0].worktree);
  const line = (at: number) => `export const value${at} = call(${at}, "text ${at}"); // remark ${at}\n`;
  const lines = (count: number) => Array.from({ length: count }, (_, at) => line(at)).join("");
  const names = Array.from({ length: 131 }, (_, at) => join(worktree, `file${at}.ts`));
  const address = `${origin}/t/${id}/diff`;
  const ready = `document.querySelector("table.d tr.a")`;
  const budgets = (what: string, { painted, readable, nodes, longest }: Drawn): Row[] => [
    { what: `${what}: first paint, in units of 1 s`, ms: painted, ratio: painted / 1_000 },
    { what: `${what}: can be read, in units of 1 s`, ms: readable, ratio: readable / 1_000 },
    {
      what: `${what}: nodes before scrolling, in units of 15,000`,
      ms: nodes,
      unit: "nodes",
      ratio: nodes / 15_000,
      most: 1,
    },
    { what: `${what}: longest task, in units of 100 ms`, ms: longest, ratio: longest / 100, most: 1 },
  ];
  for (const name of names) writeFileSync(name, lines(168));
  run([...LAUNCHER, "snapshot", id], worktree, env);
  const many = await medianDrawn(page, address, ready);
  const rows = budgets("a diff of 22,000 lines", many);
  // The libraries take a patch, without the line that says what it is the patch of.
  const { out } = run([...LAUNCHER, "diff", id], worktree, env);
  rows.push(...(await beside(page, out.slice(out.indexOf("diff --git")), many)));
  for (const name of names) rmSync(name);
  writeFileSync(join(worktree, "one.ts"), lines(20_000));
  run([...LAUNCHER, "snapshot", id], worktree, env);
  rows.push(...budgets("one file of 20,000 lines", await medianDrawn(page, address, ready)));
  return rows;
}

/** The same patch drawn by others; the ratio is theirs to ours. */
async function beside(page: Page, patch: string, ours: Drawn): Promise<Row[]> {
  const libraries = await serveLibraries(patch);
  if (!libraries) return [];
  const rows: Row[] = [];
  for (const name of libraries.names) {
    const theirs = await medianDrawn(page, libraries.addressOf(name), "globalThis.finished");
    const row = (what: string, of: keyof Drawn, unit?: string) =>
      rows.push({ what: `the same by ${name}: ${what}`, ms: theirs[of], unit, ratio: theirs[of] / ours[of] });
    row("can be read, against ours", "readable");
    row("nodes, against ours", "nodes", "nodes");
    rows.push({
      what: `the same by ${name}: longest task, in units of 100 ms`,
      ms: theirs.longest,
      ratio: theirs.longest / 100,
    });
  }
  libraries.close();
  return rows;
}

const RUNS = 100;

/** A task with a hundred runs: its list of runs and home, against a page that says "not here". */
async function manyRuns(page: Page, origin: string, repo: string, task: string): Promise<Row[]> {
  const runs = join(repo, ".pawl", "state", "tasks", task, "runs");
  for (let nth = 2; nth <= RUNS; nth++) {
    cpSync(join(runs, "R1"), join(runs, `R${nth}`), { recursive: true });
    const file = join(runs, `R${nth}`, "run.md");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(`${task}/R1`, `${task}/R${nth}`));
  }
  const [listed, nothing]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    nothing.push(await paint(page, `${origin}/nothing`));
    listed.push(await paint(page, `${origin}/t/${task}/runs`));
  }
  const ms = median(listed);
  return [
    { what: `${RUNS} runs of a task, first paint, against "not here"`, ms, ratio: ms / median(nothing) },
  ];
}

const rows: Row[] = [];
if (!hasBrowser) process.stderr.write("NOT RUN: there is no chromium on this machine\n");
for (const tasks of [1_000, 10_000]) {
  const repo = join(folder, `with ${tasks}`);
  const worktree = makeTaskAmong(repo, env, tasks);
  if (tasks === 1_000) rows.push(await listening(repo));
  const task = basename(worktree).slice(0, "T0000".length);
  if (hasBrowser) rows.push(...(await inBrowser(repo, tasks, task)));
}
const ok = printRows(rows);
rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
process.exitCode = ok ? 0 : 1;
