// Takes the pictures of docs/page.md from the real page of the demo's project: node scripts/page-pictures.mjs
// writes docs/page/*.png. Needs Chromium, and what `npm run build` has built.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { root } from "./install-if-needed.mjs";
import { terminalFor } from "./type-on-terminal.mjs";

const PICTURES = [
  ["home", "/"],
  ["task", "/t/T0002"],
  ["diff", "/t/T0002/diff", "#f1-3-"],
  ["split", "/t/T0002/diff?view=split", "#f1-3-"],
  ["findings", "/t/T0002/findings"],
  ["evidence", "/t/T0002/evidence"],
  ["run", "/t/T0005/runs/R1"],
  ["runs", "/t/T0004/runs"],
  ["lanes", "/lanes"],
  ["mail", "/mail"],
  ["tasks", "/tasks"],
  ["edit", "/t/T0002/do/edit"],
  ["handoffs", "/t/T0002/handoffs"],
  ["context", "/t/T0002/context"],
  ["approve", "/t/T0006/approve"],
  ["not-yet", "/t/T0002/approve"],
  ["start-an-agent", "/t/T0007/do/run"],
  ["audit", "/audit"],
  ["approvers", "/approvers"],
  ["search", "/search?q=retry"],
  ["log", "/log"],
  ["notes", "/notes"],
];
/** Some in the dark, and one on a phone. */
const DARK = ["diff", "run", "split", "lanes"];

const program = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "chromium"))
  .find((path) => existsSync(path));
if (!program) throw new Error("There is no chromium on this machine");

const words = [process.execPath, join(root, "scripts/demo.mjs"), "--ui", "--built", "--no-open"];
const terminal = terminalFor(words);
if (!terminal) throw new Error("This machine has no way to make a terminal");
const demo = spawn(...terminal, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
const link = await new Promise((found) => {
  let shown = "";
  demo.stdout.on("data", (chunk) => {
    shown += String(chunk);
    const [address] = /http:\S+#[\w-]+/.exec(shown) ?? [];
    if (address) found(address);
  });
});

mkdirSync(join(root, "docs/page"), { recursive: true });
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] });
const USUAL = { width: 1040, height: 660 };
const page = await browser.newPage({ viewport: USUAL, reducedMotion: "reduce" });
await page.goto(link);
await page.waitForURL((url) => url.pathname === "/");
const { origin } = new URL(page.url());

async function take(name, path, anchor = "") {
  // Two columns need the room.
  if (name === "split") await page.setViewportSize({ width: 1240, height: 660 });
  await page.emulateMedia({ colorScheme: DARK.includes(name) ? "dark" : "light" });
  await page.goto(`${origin}${path}`);
  if (anchor) await page.evaluate(`document.querySelector("[id='${anchor.slice(1)}']")?.scrollIntoView()`);
  // A run says something every second; the others are there at once.
  await page.waitForTimeout(name === "run" ? 1_500 : 250);
  await page.screenshot({ path: join(root, "docs/page", `${name}.png`) });
  if (name === "split") await page.setViewportSize(USUAL);
  console.log(`docs/page/${name}.png`);
}

for (const [name, path, anchor] of PICTURES) await take(name, path, anchor);
// A finding that is being written.
await page.emulateMedia({ colorScheme: "light" });
await page.goto(`${origin}/t/T0002/diff`);
await page.locator(".file[data-rows]").first().waitFor();
const comment = async (line, text) => {
  const row = page.locator('.file[data-path="src/http/retry.ts"] tr', { hasText: line }).first();
  await row.locator("td.l").last().click();
  await page.keyboard.type(text);
};
await comment(
  "const asked",
  "A date is allowed in Retry-After as well: Number() of it is NaN, and the wait is skipped.",
);
await page.screenshot({ path: join(root, "docs/page/review.png") });
await page.setViewportSize({ width: 400, height: 760 });
await take("phone", "/t/T0002/diff", "#f1-3-");
// What was found, once the review is recorded.
await page.setViewportSize(USUAL);
await page.goto(`${origin}/t/T0002/diff`);
await page.locator(".draft").first().waitFor();
await comment("throw new Error", "The message names the address, and the address may hold a token.");
await page.locator(".draft select").last().selectOption("high");
await page.getByLabel("Fail").check();
await page.getByRole("button", { name: "Record the review" }).click();
await page.locator(".notice").waitFor();
await take("all-findings", "/findings");
await browser.close();
// Ctrl-C, as a person would: the demo ends what it began.
demo.stdin.write("\u0003");
await new Promise((done) => demo.on("close", done));
