import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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

    const shown = (selector: string) => page.locator(selector).first().isVisible();
    const styleOf = (selector: string, name: string) =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${name}`);

    test("on paper there is the record of a review, light and whole, and nothing to press", async () => {
      await go("/t/T0002/diff");
      await page.locator(".file[data-rows]").first().waitFor();
      await page.locator("input[name=seen]").last().check();
      expect(await shown('.file[data-path="src/limits.ts"] tr.a')).toBe(false);
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      for (const gone of [".bar", ".tools", ".tree", ".foot", ".tabs", ".finish", ".menu", ".cmd"])
        expect(await shown(gone), gone).toBe(false);
      // What was looked at is folded on the screen, and generated files are; a record has all of it.
      for (const there of [
        '.file[data-path="src/limits.ts"] tr.a',
        '.file[data-path="package-lock.json"] tr.a',
        "h1",
      ])
        expect(await shown(there), there).toBe(true);
      const [paper, sticky] = [
        await styleOf("body", "backgroundColor"),
        await styleOf(".file > header", "position"),
      ];
      expect([paper, sticky]).toEqual(["rgb(255, 255, 255)", "static"]);
      expect((await page.pdf()).length).toBeGreaterThan(10_000);
      await page.emulateMedia({ media: "screen", colorScheme: "light" });
      await page.locator("input[name=seen]").last().uncheck();
    });

    test("where two columns have no room, old and new lie below each other, each as wide as the page", async () => {
      await go("/t/T0002/diff?view=split");
      const boxes = async (row: string) => {
        const cells = page
          .locator(`.file[data-path="src/http/retry.ts"] ${row}`)
          .first()
          .locator("td.t:visible");
        return (await Promise.all((await cells.all()).map((one) => one.boundingBox()))).map((box) => ({
          width: box?.width ?? 0,
          y: box?.y ?? 0,
        }));
      };
      const changed = "tr.a:has(td.t.old.r)";
      for (const [width, isBeside] of [
        [1440, true],
        [1000, false],
        [400, false],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        const [old, fresh] = await boxes(changed);
        expect([old?.y === fresh?.y, (fresh?.width ?? 0) > width * 0.3], `${width}`).toEqual([
          isBeside,
          true,
        ]);
        expect((await boxes("tr.c")).at(-1)?.width, `${width}`).toBeGreaterThan(width * 0.3);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    });

    test("the light that was chosen stays, and paper is white all the same", async () => {
      await page.emulateMedia({ media: "screen", colorScheme: "light" });
      await go("/");
      const theme = page.getByRole("button", { name: /^Theme/ });
      const light = () => styleOf("html", "colorScheme");
      expect([await theme.textContent(), await light()]).toEqual(["Auto", "light dark"]);
      await theme.click();
      await theme.click();
      await page.reload();
      expect([await theme.textContent(), await light()]).toEqual(["Dark", "dark"]);
      await page.emulateMedia({ media: "print" });
      expect(await light()).toBe("light");
      await page.emulateMedia({ media: "screen" });
      await theme.click();
      expect([await theme.textContent(), await light()]).toEqual(["Auto", "light dark"]);
    });

    test("keys lead to the diff and home, and every page tells which there are", async () => {
      await go("/t/T0002");
      await page.locator("#live").waitFor();
      const keys = async (...names: string[]) => {
        for (const name of names) await page.keyboard.press(name);
      };
      await keys("?");
      await page.getByRole("dialog", { name: "Keys" }).getByText("go to the diff").waitFor();
      await keys("Escape", "g", "d");
      await page.waitForURL(`${origin}/t/T0002/diff`);
      await page.locator(".file[data-rows]").first().waitFor();
      await keys("g", "h");
      await page.waitForURL(`${origin}/`);
    });

    test("nothing moves for whoever wants no motion", async () => {
      await go("/");
      const moving = () => styleOf(".dot.run", "animationName");
      await page.emulateMedia({ reducedMotion: "no-preference" });
      expect(await moving()).not.toBe("none");
      await page.emulateMedia({ reducedMotion: "reduce" });
      expect(await moving()).toBe("none");
      expect(await page.evaluate("document.getAnimations().length")).toBe(0);
    });

    test("with the system's own colours, rows are told by their signs and buttons by their edges", async () => {
      await page.emulateMedia({ forcedColors: "active" });
      await go("/t/T0002/diff");
      const sign = (row: string) =>
        page.evaluate(`getComputedStyle(document.querySelector("${row} .t"), "::before").content`);
      expect([await sign("tr.a"), await sign("tr.r")]).toEqual(['"+"', '"−"']);
      expect(await styleOf(".btn.go", "borderTopStyle")).toBe("solid");
      expect(await axe(page, ["color-contrast"])).toEqual([]);
      await page.emulateMedia({ forcedColors: "none" });
    });

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

  test("a page on another port, and another name for this machine, get nothing in a real browser either", async () => {
    const evil = createServer((_, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end(
        `<form method="post" action="${origin}/new/task"><input name="title" value="Theirs"><button>Win</button></form><a href="${origin}/t/T0002">Read</a>`,
      );
    });
    await new Promise<void>((done) => evil.listen(0, "127.0.0.1", done));
    const { port } = evil.address() as AddressInfo;
    const guest = await openTab(browser, origin);
    try {
      await guest.page.goto(await room.link());
      await guest.page.waitForURL(`${origin}/`);
      for (const name of ["pawl.localhost", "evil.localhost"])
        for (const role of ["button", "link"] as const) {
          await guest.page.goto(`http://${name}:${port}/`);
          await guest.page.getByRole(role).click();
          await guest.page.getByText("Another page asked for this.").waitFor();
        }
      const answer = await guest.page.goto(origin.replace("pawl.localhost", "evil.localhost"));
      expect(answer?.status()).toBe(421);
      expect(pawl("web", {}, "task", "list", "--json")).not.toContain("Theirs");
    } finally {
      await guest.context.close();
      evil.close();
      evil.closeAllConnections();
    }
  });

  describe("a review of two repositories", () => {
    const rowOf = (path: string, text: string) =>
      page.locator(`.file[data-path="${path}"] tr`, { hasText: text }).first();
    const codex = { CODEX_SESSION_ID: "author-session" };

    const reviewOf = () => JSON.parse(pawl("web", {}, "task", "show", "T2", "--json")).data;
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const unsent = (count: string) => page.getByText(`${count} of yours not yet sent`).waitFor();

    test("by keyboard alone: findings on lines, viewed marks and the verdict, through a reload", async () => {
      await go("/t/T0002/diff");
      // Keys are heard from here on.
      await page.locator(".file[data-rows]").first().waitFor();
      await press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      expect(await axe(page)).toEqual([]);
      await press("Escape");
      // The first change that is not folded, its second line, and the one below it.
      await press("n", "j", "Shift+ArrowDown", "c");
      await page.keyboard.type("The time is never asserted");
      await press("Control+Enter");
      await unsent("1 finding");
      // The last file is in the other repository.
      await press("J", "J");
      const current = () => page.locator("tr.on").last().textContent();
      for (let step = 0; step < 30 && !(await current())?.includes("Math.ceil"); step++) await press("j");
      await press("c");
      await page.keyboard.type("A negative rest becomes Retry-After: -0");
      await press("Shift+Tab", "h", "Control+Enter");
      await unsent("2 findings");
      await page.reload();
      await unsent("2 findings");
      await page.locator(".file[data-rows]").first().waitFor();
      expect(await axe(page)).toEqual([]);
      await press("J", "K", "v", "v", "v", "v");
      await page.getByText("4 of 4 viewed").waitFor();
      await page.reload();
      await page.getByText("4 of 4 viewed").waitFor();
      await page.locator(".file[data-rows]").first().waitFor();
      await press("f");
      await page.keyboard.type("Read in both repositories.");
      // No verdict is chosen for anybody; from behind, the last one comes first.
      await press("Shift+Tab", "Space", "Tab", "Tab", "Enter");
      await page.waitForURL(`${origin}/t/T0002?sent=V1`);
      const { reviews, findings } = reviewOf();
      expect(reviews).toMatchObject([
        {
          verdict: "fail",
          actor: "human:Ada",
          counts: true,
          findings: ["T0002/F2", "T0002/F3"],
          looked_at: [
            "web: package-lock.json",
            "web: src/http/retry.test.ts",
            "web: src/http/retry.ts",
            "api: src/limits.ts",
          ],
          summary: "Read in both repositories.",
        },
      ]);
      expect(findings.slice(1)).toMatchObject([
        { repo: "web", file: "src/http/retry.test.ts", line: 2, severity: "medium" },
        { repo: "api", file: "src/limits.ts", line: 8, severity: "high", line_sha256: expect.any(String) },
      ]);
    });

    test("reaches the author's next session whole, in one step, and nothing is left to send", async () => {
      await page.getByText("Waiting for the author").waitFor();
      const { session } = JSON.parse(pawl("web", codex, "session", "T2", "--json")).data;
      expect(session.findings.map((one: { text: string }) => one.text.split("\n")[0])).toEqual([
        "The time is never asserted",
        "A negative rest becomes Retry-After: -0",
      ]);
      await go("/t/T0002/diff");
      expect(await page.locator(".draft").count()).toBe(0);
      expect(await page.locator("#unsent").textContent()).toBe("");
    });

    test("by mouse alone: more lines, another light, a range, a refusal that loses nothing, the verdict", async () => {
      await page.locator(".file[data-rows]").first().waitFor();
      const file = page.locator('.file[data-path="src/http/retry.ts"]');
      await file.locator("input[name=seen]").uncheck();
      await page.getByText("3 of 4 viewed").waitFor();
      await file.locator("button.more").first().click();
      const first = file.locator("tr.c").first();
      await first.getByText('import { sleep } from "./sleep.ts";').waitFor();
      expect(await first.locator("td.l").allTextContents()).toEqual(["1", "1"]);
      await page.getByRole("link", { name: "Ignore white space" }).click();
      await page.waitForURL(`${origin}/t/T0002/diff?space=ignore`);
      await page.getByRole("link", { name: "Split" }).click();
      await page.waitForURL(`${origin}/t/T0002/diff?view=split&space=ignore`);
      await file.locator("table.split").waitFor();
      await go("/t/T0002/diff");
      await page.locator(".file[data-rows]").first().waitFor();
      const [from, to] = [
        rowOf("src/http/retry.ts", "isTransient(response"),
        rowOf("src/http/retry.ts", "const asked"),
      ];
      await from.locator("td.l").last().hover();
      await page.mouse.down();
      await to.locator("td.l").last().hover();
      await page.mouse.up();
      await page.keyboard.type("Three lines belong together");
      await rowOf("src/http/retry.ts", "throw new Error").locator("td.l").last().click();
      await page.keyboard.type("Which address?");
      await page.locator(".draft select").last().selectOption("low");
      await unsent("2 findings");
      await file.locator("input[name=seen]").check();
      await page.getByText("4 of 4 viewed").waitFor();
      await page.getByLabel("Pass with findings").check();
      await page.getByRole("button", { name: "Record the review" }).click();
      await page.getByText("A high finding is open, so nothing can pass").waitFor();
      expect(reviewOf().findings).toHaveLength(3);
      await page.getByRole("link", { name: "Back to the diff" }).click();
      await unsent("2 findings");
      await page.getByLabel("Fail").check();
      await page.getByRole("button", { name: "Record the review" }).click();
      await page.waitForURL(`${origin}/t/T0002?sent=V2`);
      const { findings } = reviewOf();
      expect(findings.slice(3)).toMatchObject([
        { repo: "web", file: "src/http/retry.ts", severity: "medium" },
        { repo: "web", file: "src/http/retry.ts", severity: "low" },
      ]);
      expect(findings[3].text).toContain("```\n+    if (!isTransient(response.status)) return response;");
    });
  });

  test("controls refuse what their commands refuse, and keep what was typed", async () => {
    await go("/t/T0002/do/wontfix?finding=F4");
    await page.getByLabel("Reason").fill("It is fine");
    await page.getByRole("button", { name: "Won't fix" }).click();
    await page.getByText("wontfix").first().waitFor();
    await go("/t/T0002/do/resolve?finding=F3");
    await page.getByLabel("Note").fill("Typed with care");
    await page.getByRole("button", { name: "Mark as fixed" }).click();
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
    await page.getByRole("button", { name: "Stop agent" }).click();
    await page.getByText("interrupted").first().waitFor();
    await second.locator("#following", { hasText: "ended" }).waitFor();
    await second.locator("#standing", { hasText: "interrupted" }).waitFor();
    await second.close();
  });

  test("what others record comes in without a reload, and moves nothing under the reader", async () => {
    await go("/t/T0007");
    await page.getByText("Not started yet.").waitFor();
    await page.locator("#live").waitFor();
    pawl("web", {}, "task", "update", "T7", "--blocker", "Which number?");
    await page.getByText("Waiting for you: Which number?").waitFor();
    await go("/");
    await page.locator("#live").waitFor();
    pawl("web", {}, "task", "new", "One more");
    await page.getByText("There is something new.").waitFor();
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
