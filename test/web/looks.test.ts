// @module-tag proof
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../src/web/routes.ts";
import { axe, hasBrowser, withoutBrowser } from "../helpers/browser.ts";
import { type DemoPage, openDemoPage } from "../helpers/demo-page.ts";

/** What every page looks like: in the dark, on paper, at 400 px, for those who want no motion or run no script. */
describe.skipIf(!hasBrowser)(`the page in Chromium${withoutBrowser}`, () => {
  let demo: DemoPage;
  let browser: DemoPage["browser"];
  let context: DemoPage["context"];
  let page: DemoPage["page"];
  let complaints: DemoPage["complaints"];
  let origin: DemoPage["origin"];
  let go: DemoPage["go"];

  beforeAll(async () => {
    demo = await openDemoPage();
    ({ browser, context, page, complaints, origin, go } = demo);
  }, 180_000);
  afterAll(() => demo?.close(), 60_000);

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

  test("a title that is one long word is no wider than the screen", async () => {
    const made = JSON.parse(demo.pawl("web", {}, "task", "new", "long".repeat(40), "--json"));
    const wrong: string[] = [];
    for (const width of [1440, 400]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of [`/t/${made.data.task.id}`, "/", "/tasks", "/log", "/search?q=longlong"]) {
        await go(path);
        const over = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
        if (over > 0) wrong.push(`${path}, ${width} px: ${over} px wider`);
      }
    }
    expect(wrong).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

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
      expect([old?.y === fresh?.y, (fresh?.width ?? 0) > width * 0.3], `${width}`).toEqual([isBeside, true]);
      expect((await boxes("tr.c")).at(-1)?.width, `${width}`).toBeGreaterThan(width * 0.3);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("a phone shows who asks and since when, however long the name is", async () => {
    await page.setViewportSize({ width: 400, height: 900 });
    await go("/");
    const who = page.locator("#needs-you + .list .who .small").first();
    expect([await who.isVisible(), await who.textContent()]).toEqual([
      true,
      expect.stringMatching(/^codex · /),
    ]);
    await who.evaluate("(element) => { element.textContent = 'x'.repeat(300); }");
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
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

  test("with the system's own colours, signs tell rows apart and edges mark buttons", async () => {
    await page.emulateMedia({ forcedColors: "active" });
    await go("/t/T0002/diff");
    const sign = (row: string) =>
      page.evaluate(`getComputedStyle(document.querySelector("${row} .t"), "::before").content`);
    expect([await sign("tr.a"), await sign("tr.r")]).toEqual(['"+"', '"−"']);
    expect(await styleOf(".btn.go", "borderTopStyle")).toBe("solid");
    expect(await axe(page, ["color-contrast"])).toEqual([]);
    await page.emulateMedia({ forcedColors: "none" });
  });

  test("without a script nothing is offered that only a script could do", async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    await plain.addCookies(await context.cookies());
    const tab = await plain.newPage();
    await tab.goto(`${origin}/t/T0002/diff`);
    await tab.getByText("const backoff").waitFor();
    const dead = tab.locator("input[name=seen], button.more, .foot .keys, #theme, #live");
    expect(await dead.filter({ visible: true }).count()).toBe(0);
    await plain.close();
  });

  test("nothing was asked of another server, and no script or style was refused", () => {
    expect(complaints).toEqual([]);
  });
});
