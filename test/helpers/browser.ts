import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { notRun } from "./optional-program.ts";

const found = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => ["chromium", "google-chrome"].map((name) => join(folder, name)))
  .find((path) => existsSync(path));

export const hasBrowser = found !== undefined;

/** What to add to the name of a test that is not run because there is no Chromium. */
export const withoutBrowser = notRun(hasBrowser, "chromium");

/** As root there is no sandbox; and it shall ask nobody anything, at its start least of all. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launchBrowser(...more: string[]): Promise<Browser> {
  if (!found) throw new Error("no chromium on this machine");
  return chromium.launch({ executablePath: found, args: [...FLAGS, ...more] });
}

/** A tab that writes down everything that must not happen: mistakes of scripts, refusals of the CSP, requests to elsewhere. */
export async function openTab(browser: Browser, origin: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  const complaints: string[] = [];
  context.on("page", (page) => watch(page, origin, complaints));
  return { page: await context.newPage(), context, complaints };
}

function watch(page: Page, origin: string, complaints: string[]): void {
  page.on("console", (message) => {
    // A refusal is a page with a status above 400, and Chromium says so of every one.
    if (message.type() === "error" && !/the server responded with a status of 4\d\d/.test(message.text()))
      complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:"))
      complaints.push(`a request to ${request.url()}`);
  });
}

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds wrong, one line for each element. It comes in by the debugger: the page's own CSP lets nothing in. */
export async function axe(page: Page, rules: readonly string[] = TAGS): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const evaluate = async (expression: string) =>
    String((await session.send("Runtime.evaluate", { expression, awaitPromise: true })).result.value);
  if ((await evaluate("typeof axe")) === "undefined") await evaluate(readFileSync(AXE, "utf8"));
  const options = JSON.stringify({ runOnly: rules, resultTypes: ["violations"] });
  const found = await evaluate(`axe.run(${options}).then(({ violations }) => JSON.stringify(violations))`);
  await session.detach();
  const violations = JSON.parse(found) as AxeResults["violations"];
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`));
}
