import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../src/web/routes.ts";
import { axe, hasBrowser, launchBrowser, openTab, withoutBrowser } from "../helpers/browser.ts";
import { type DemoRoom, openDemoRoom } from "../helpers/demo-room.ts";

/** The real page of a filled project, in a real Chromium: one room and one browser for all of it, in this order. */
describe.skipIf(!hasBrowser)(`the page in Chromium${withoutBrowser}`, () => {
  let room: DemoRoom;
  let browser: Browser;
  let page: Page;
  let context: BrowserContext;
  let complaints: string[];
  let origin: string;

  beforeAll(async () => {
    [room, browser] = await Promise.all([openDemoRoom(), launchBrowser()]);
    const link = await room.link();
    origin = new URL(link).origin;
    ({ page, context, complaints } = await openTab(browser, origin, {
      viewport: { width: 1440, height: 900 },
    }));
    await page.goto(link);
    await page.waitForURL(`${origin}/`);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await room?.close();
  }, 60_000);

  const go = (path: string) => page.goto(`${origin}${path}`);
  const pawl = (where: string, env: Record<string, string>, ...words: string[]): string =>
    execFileSync(
      process.execPath,
      [fileURLToPath(new URL("../../dist/pawl.cjs", import.meta.url)), ...words],
      {
        cwd: join(room.folder, where),
        env: { ...room.env, ...env },
        encoding: "utf8",
      },
    );

  describe("looks", () => {
    const fill = (path: string) =>
      path
        .replace("{task}", "T0002")
        .replace("{run}", "R1")
        .replace("{action}", path.startsWith("/new") ? "task" : "edit");
    const pages = [
      ...ROUTES.filter(({ method, path }) => method === "GET" && !/\{file\}|stream|events/.test(path)).map(
        ({ path }) => fill(path),
      ),
      ...["/t/T0002/diff?view=split", "/t/T0001/approve", "/t/T0003", "/t/T0005/runs/R1", "/t/T0006/approve"],
      ...["/search?q=retry", "/tasks?status=dropped", "/nothing"],
    ];

    test("axe finds nothing in the dark, in the light and at 400 px, and nothing is wider than the screen", async () => {
      const wrong: string[] = [];
      for (const path of pages) {
        await go(path);
        for (const [mode, colorScheme, width] of [
          ["dark", "dark", 1440],
          ["light", "light", 1440],
          ["400 px", "light", 400],
        ] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await page.setViewportSize({ width, height: 900 });
          // What is not a colour is the same in the dark.
          const found = await axe(page, mode === "dark" ? ["color-contrast"] : undefined);
          wrong.push(...found.map((one) => `${path}, ${mode}: ${one}`));
          const over = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
          if (Number(over) > 0) wrong.push(`${path}, ${mode}: ${over} px wider than the screen`);
        }
      }
      await page.setViewportSize({ width: 1440, height: 900 });
      expect(wrong).toEqual([]);
    }, 120_000);

    test("nothing was asked of another server, and no script or style was refused", () => {
      expect(complaints).toEqual([]);
    });
  });

  test("a link lets one browser in, and no second one", async () => {
    const link = await room.link();
    const first = await openTab(browser, origin);
    await first.page.goto(link);
    await first.page.waitForURL(`${origin}/`);
    const second = await openTab(browser, origin);
    await second.page.goto(link);
    await second.page.getByText("This link was used already").waitFor();
    expect((await second.page.goto(`${origin}/t/T0002`))?.status()).toBe(401);
    await first.context.close();
    await second.context.close();
  });
  describe("a review of two repositories", () => {
    const rowOf = (path: string, text: string) =>
      page.locator(`.file[data-path="${path}"] tr`, { hasText: text }).first();
    const codex = { CODEX_SESSION_ID: "author-session" };

    test("is written by keyboard and by mouse, and survives a reload", async () => {
      await go("/t/T0002/diff");
      // Keys are heard from here on.
      await page.locator(".file[data-rows]").first().waitFor();
      // The first change that is not folded, its second line, and the one below it.
      for (const key of ["n", "j", "Shift+ArrowDown", "c"]) await page.keyboard.press(key);
      await page.keyboard.type("The time is never asserted");
      await page.keyboard.press("Control+Enter");
      await page.getByText("1 finding of yours not yet sent").waitFor();
      await rowOf("src/limits.ts", "Math.ceil").locator("td.l").last().click();
      await page.keyboard.type("A negative rest becomes Retry-After: -0");
      await page.locator(".draft select").last().selectOption("high");
      const [from, to] = [
        rowOf("src/http/retry.ts", "isTransient(response"),
        rowOf("src/http/retry.ts", "const asked"),
      ];
      await from.locator("td.l").last().hover();
      await page.mouse.down();
      await to.locator("td.l").last().hover();
      await page.mouse.up();
      await page.keyboard.type("Three lines belong together");
      await page.reload();
      await page.getByText("3 findings of yours not yet sent").waitFor();
      const boxes = await page.locator(".draft textarea").all();
      expect(await Promise.all(boxes.map((one) => one.inputValue()))).toEqual([
        "The time is never asserted",
        "Three lines belong together",
        "A negative rest becomes Retry-After: -0",
      ]);
      expect(await axe(page)).toEqual([]);
    });

    test("shows more of a file than its patch has, with its lines' own numbers", async () => {
      const file = page.locator('.file[data-path="src/http/retry.ts"]');
      await file.locator("button.more").first().click();
      const first = file.locator("tr.c").first();
      await first.getByText('import { sleep } from "./sleep.ts";').waitFor();
      expect(await first.locator("td.l").allTextContents()).toEqual(["1", "1"]);
      expect(await file.locator("button.more").count()).toBe(0);
      await page.reload();
    });

    test("marks files as viewed, and shows its keys", async () => {
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      expect(await axe(page)).toEqual([]);
      await page.keyboard.press("Escape");
      for (const box of await page.locator("input[name=seen]").all()) await box.check();
      await page.getByText("4 of 4 viewed").waitFor();
      await page.reload();
      await page.getByText("4 of 4 viewed").waitFor();
    });

    test("that does not agree with its findings is refused, and nothing is lost", async () => {
      await page.getByLabel("Pass with findings").check();
      await page.getByRole("button", { name: "Record the review" }).click();
      await page.getByText("A high finding is open, so nothing passes").waitFor();
      expect(JSON.parse(pawl("web", {}, "finding", "list", "T2", "--json")).data.findings).toHaveLength(1);
      await page.getByRole("link", { name: "Back to the diff" }).click();
      await page.getByText("3 findings of yours not yet sent").waitFor();
    });

    test("reaches the author's next session whole, in one step", async () => {
      await page.locator("#summary").fill("Read in both repositories.");
      await page.getByLabel("Fail").check();
      await page.getByRole("button", { name: "Record the review" }).click();
      await page.waitForURL(`${origin}/t/T0002?sent=V1`);
      await page.getByText("Waiting for the author").waitFor();
      const shown = JSON.parse(pawl("web", {}, "task", "show", "T2", "--json")).data;
      expect(shown.reviews).toMatchObject([
        {
          verdict: "fail",
          actor: "human:Ada",
          counts: true,
          findings: ["T0002/F2", "T0002/F3", "T0002/F4"],
          looked_at: [
            "web: package-lock.json",
            "web: src/http/retry.test.ts",
            "web: src/http/retry.ts",
            "api: src/limits.ts",
          ],
          summary: "Read in both repositories.",
        },
      ]);
      expect(shown.findings.slice(1)).toMatchObject([
        { repo: "web", file: "src/http/retry.test.ts", line: 2, severity: "medium" },
        { repo: "web", file: "src/http/retry.ts", severity: "medium" },
        { repo: "api", file: "src/limits.ts", line: 8, severity: "high", line_sha256: expect.any(String) },
      ]);
      expect(shown.findings[2].text).toContain(
        "```\n+    if (!isTransient(response.status)) return response;",
      );
      const { session } = JSON.parse(pawl("web", codex, "session", "T2", "--json")).data;
      expect(session.findings.map((one: { text: string }) => one.text.split("\n")[0])).toEqual([
        "The time is never asserted",
        "Three lines belong together",
        "A negative rest becomes Retry-After: -0",
      ]);
      await go("/t/T0002/diff");
      expect(await page.locator(".draft").count()).toBe(0);
      expect(await page.locator("#unsent").textContent()).toBe("");
    });
  });

  test("controls refuse what their commands refuse, and keep what was typed", async () => {
    await go("/t/T0002/do/wontfix?finding=F4");
    await page.getByLabel("Reason").fill("It is fine");
    await page.getByRole("button", { name: "It stays" }).click();
    await page.getByText("wontfix").first().waitFor();
    await go("/t/T0002/do/resolve?finding=F3");
    await page.getByLabel("Note").fill("Typed with care");
    await page.getByRole("button", { name: "It is fixed" }).click();
    await page.getByText("Not done:").waitFor();
    expect(await page.getByLabel("Note").inputValue()).toBe("Typed with care");
    await page.reload();
    expect(await page.getByLabel("Note").inputValue()).toBe("Typed with care");
  });

  test("a second tab follows an agent that works, and sees it stopped from the first", async () => {
    const second = await context.newPage();
    await second.goto(`${origin}/t/T0005/runs/R1`);
    const lines = () => second.locator("#log .ln").count();
    await second.getByText("following").waitFor();
    const before = await lines();
    await expect.poll(lines, { timeout: 20_000 }).toBeGreaterThan(before);
    await go("/t/T0005/do/stop");
    await page.getByLabel("Grace").fill("1s");
    await page.getByRole("button", { name: "Stop it" }).click();
    await page.getByText("interrupted").first().waitFor();
    await second.locator("#following", { hasText: "ended" }).waitFor();
    await second.locator("#standing", { hasText: "interrupted" }).waitFor();
    await second.close();
  });

  test("what others record comes in without a reload, and moves nothing under the reader", async () => {
    await go("/t/T0007");
    await page.getByText("Not begun.").waitFor();
    await page.locator("#live").waitFor();
    pawl("web", {}, "task", "update", "T7", "--blocker", "Which number?");
    await page.getByText("Waiting for you: Which number?").waitFor();
    await go("/");
    await page.locator("#live").waitFor();
    pawl("web", {}, "task", "new", "One more");
    await page.getByText("Something changed.").waitFor();
    expect(await page.getByText("One more").count()).toBe(0);
    await page.locator("#offer button").click();
    await page.getByText("One more").first().waitFor();
  });

  test("a yes is typed on the terminal, with the digits of the page", async () => {
    await go("/t/T0006/approve");
    const digits = await page.locator(".digits").textContent();
    await page.getByLabel("Type the task's id").fill("T0006");
    await page.getByRole("button", { name: "Ask on the terminal" }).click();
    await page.getByText("The question is on the terminal").waitFor();
    expect(await axe(page)).toEqual([]);
    await room.shows(/Type T0006 to merge it into main: $/);
    expect(room.shown()).toContain(`Receipt ${digits}`);
    room.type("T0006");
    await page.getByText("T0006 is merged").waitFor();
    await room.shows(/T0006\/A1 merged/);
    const git = (...words: string[]) =>
      execFileSync("git", words, { cwd: room.folder, env: room.env, encoding: "utf8" });
    git("clone", "-q", "--bare", "web", "remote.git");
    git("-C", "web", "remote", "add", "origin", join(room.folder, "remote.git"));
    pawl("web", {}, "sync");
    const { audit } = JSON.parse(pawl("remote.git", {}, "audit", "--ci", "--json")).data;
    expect(audit).toMatchObject({ clean: true });
    expect(audit.branches[0].counts.approved).toBe(2);
  });

  test("nothing of all this was asked of another server, refused by the CSP or a mistake of a script", () => {
    expect(complaints).toEqual([]);
  });
});
