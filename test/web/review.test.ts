// @module-tag proof
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axe, hasBrowser, withoutBrowser } from "../helpers/browser.ts";
import { type DemoPage, openDemoPage } from "../helpers/demo-page.ts";

/** One review of two repositories from its first key to its verdict, in this order. */
describe.skipIf(!hasBrowser)(`a review in Chromium${withoutBrowser}`, () => {
  let demo: DemoPage;
  let page: DemoPage["page"];
  let complaints: DemoPage["complaints"];
  let origin: DemoPage["origin"];
  let go: DemoPage["go"];
  let pawl: DemoPage["pawl"];

  beforeAll(async () => {
    demo = await openDemoPage();
    ({ page, complaints, origin, go, pawl } = demo);
  }, 180_000);
  afterAll(() => demo?.close(), 60_000);

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
      await page.waitForURL(/\/t\/T0002\?sent=V1&done=/);
      await page.locator(".notice", { hasText: "T0002/V1" }).waitFor();
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
      await page.waitForURL(/\/t\/T0002\?sent=V2&done=/);
      const { findings } = reviewOf();
      expect(findings.slice(3)).toMatchObject([
        { repo: "web", file: "src/http/retry.ts", severity: "medium" },
        { repo: "web", file: "src/http/retry.ts", severity: "low" },
      ]);
      expect(findings[3].text).toContain("```\n+    if (!isTransient(response.status)) return response;");
    });
  });

  test("a viewed mark that could not be kept is taken back", async () => {
    await go("/t/T0002/diff");
    await page.locator(".file[data-rows]").first().waitFor();
    const box = page.locator("input[name=seen]").first();
    const before = await box.isChecked();
    await page.route("**/viewed", (route) => route.fulfill({ status: 401, body: "" }));
    await box.click();
    await expect.poll(() => box.isChecked()).toBe(before);
    await page.getByText("4 of 4 viewed").waitFor();
    await page.unroute("**/viewed");
  });

  test("a finding in writing stays with its file when another diff was saved, and can be removed where the file is gone", async () => {
    const draft = (id: string, file: string, line: number) => ({
      // The name of a row that belongs to another file by now.
      ...{ id, row: "f1-2-R2", repo: "web", file, line },
      ...{ quote: "", severity: "low", text: `About ${file}` },
    });
    const drafts = [draft("one", "src/http/retry.ts", 18), draft("two", "src/gone.ts", 1)];
    await page.evaluate(
      `localStorage.setItem("pawl:review:T0002", ${JSON.stringify(JSON.stringify(drafts))})`,
    );
    await page.reload();
    await page.getByText("2 findings of yours not yet sent").waitFor();
    expect(await page.locator(".file", { has: page.locator(".draft") }).getAttribute("data-path")).toBe(
      "src/http/retry.ts",
    );
    const remove = (file: string) =>
      page.locator("#drafts li", { hasText: file }).getByRole("button", { name: "Remove" }).click();
    await remove("src/gone.ts");
    await page.getByText("1 finding of yours not yet sent").waitFor();
    expect(await page.locator(".draft").count()).toBe(1);
    // This file is marked as viewed, and so folded with what stands in it.
    await remove("src/http/retry.ts");
    expect(await page.locator(".draft").count()).toBe(0);
    expect(await page.locator("#drafts li").count()).toBe(0);
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

  test("nothing of all this was asked of another server, refused by the CSP or a mistake of a script", () => {
    expect(complaints).toEqual([]);
  });
});
