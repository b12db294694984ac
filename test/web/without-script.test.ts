// @module-tag proof
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { handle } from "../../src/web/handle.ts";
import { type Listening, listen } from "../../src/web/serve.ts";
import { hasBrowser, launchBrowser, openTab, withoutBrowser } from "../helpers/browser.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { openHouse } from "../helpers/page.ts";
import { ok } from "../helpers/ready-task.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** Reading and every form, in a browser that runs no script; only the link needs one. */
describe.skipIf(!hasBrowser)(`without a script${withoutBrowser}`, () => {
  let root: string;
  let project: Project;
  let server: Listening;
  let browser: Browser;
  let page: Page;
  let origin: string;

  beforeAll(async () => {
    root = makeTemporaryFolder("without script");
    project = openProject(makeRepository(root, "shop"));
    project.commit("a.ts", "const one = 1;\n");
    await ok(project.pawl("task", "new", "Retry"));
    const { run } = (await ok(project.pawl("start", "T1", "--json"))).json.data;
    const tree = join(project.path, run.repos[0].worktree);
    writeFileSync(join(tree, "a.ts"), "const one = 1;\nconst two = 2;\n");
    execFileSync("git", ["commit", "-qam", "Two"], { cwd: tree, env: project.env });
    await ok(project.pawl("snapshot", "T1"));
    const house = openHouse(project);
    server = await listen(0, (request) => handle(request, house));
    origin = `http://pawl.localhost:${server.port}`;
    browser = await launchBrowser();
    const tab = await openTab(browser, origin, { javaScriptEnabled: false });
    page = tab.page;
    const [name = "", value = ""] =
      house.sessions.enter(house.sessions.invite(), new URL(origin).host)?.split(/[=;]/) ?? [];
    await tab.context.addCookies([{ name, value, url: origin }]);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  });

  const go = (path: string) => page.goto(`${origin}${path}`);
  const press = (name: string) => page.getByRole("button", { name }).click();

  test("a task is created, edited, decided about and dropped", async () => {
    await go("/new/task");
    await page.getByLabel(/^Title/).fill("By hand");
    await press("Create task");
    await go("/t/T0002/do/edit");
    await page.getByLabel(/^Objective/).fill("Typed without a script");
    await press("Save");
    await page.getByText("Typed without a script").waitFor();
    await go("/t/T0002/do/decide");
    await page.getByLabel(/^Decision/).fill("Keep it");
    await page.getByLabel(/^Why/).fill("It is small");
    await press("Record decision");
    await page.getByText("It is small").waitFor();
    await go("/t/T0002/do/drop");
    await press("Drop task");
    const { task, decisions } = (await project.pawl("task", "show", "T2", "--json")).json.data;
    expect([task.status, decisions.length]).toEqual(["dropped", 1]);
  });

  test("the diff is read both ways, and a review with its finding is recorded", async () => {
    await go("/t/T0001/diff");
    await page.getByText("const two = 2;").waitFor();
    await page.getByRole("link", { name: "Split" }).click();
    await page.locator("table.split").waitFor();
    await page.getByRole("link", { name: "Add a general finding…" }).click();
    await page.getByLabel(/^Finding/).fill("Two is never used");
    await page.getByLabel(/^Severity/).selectOption("low");
    await press("Add finding");
    await go("/t/T0001/diff");
    await page.getByLabel("Fail").check();
    await page.getByLabel(/^Summary/).fill("Read on paper");
    await press("Record the review");
    const { reviews, findings } = (await project.pawl("task", "show", "T1", "--json")).json.data;
    expect(reviews).toMatchObject([{ verdict: "fail", summary: "Read on paper" }]);
    expect(findings).toMatchObject([{ text: "Two is never used", severity: "low" }]);
    await page.getByRole("searchbox").or(page.locator("#q")).first().fill("used");
    await page.keyboard.press("Enter");
    await page.getByText("1 found").waitFor();
  });
});
