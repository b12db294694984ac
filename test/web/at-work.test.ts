// @module-tag proof
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axe, hasBrowser, openTab, withoutBrowser } from "../helpers/browser.ts";
import { type DemoPage, openDemoPage } from "../helpers/demo-page.ts";

/** Who gets in, what others do while the page is open, and a yes that is typed on the terminal. */
describe.skipIf(!hasBrowser)(`the page of a project at work, in Chromium${withoutBrowser}`, () => {
  let demo: DemoPage;
  let room: DemoPage["room"];
  let browser: DemoPage["browser"];
  let context: DemoPage["context"];
  let page: DemoPage["page"];
  let complaints: DemoPage["complaints"];
  let origin: DemoPage["origin"];
  let go: DemoPage["go"];
  let pawl: DemoPage["pawl"];

  beforeAll(async () => {
    demo = await openDemoPage();
    ({ room, browser, context, page, complaints, origin, go, pawl } = demo);
  }, 180_000);
  afterAll(() => demo?.close(), 60_000);

  test("a link lets one browser in, and not a second one", async () => {
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
    await page.locator("#status", { hasText: "blocked" }).waitFor();
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
    await page.getByText("typed T0006 on the terminal, asked from the page").waitFor();
    await room.shows(/T0006\/A1 merged/);
    const git = (...words: string[]) =>
      execFileSync("git", words, { cwd: room.folder, env: room.env, encoding: "utf8" });
    git("clone", "-q", "--bare", "web", "remote.git");
    git("-C", "web", "remote", "add", "origin", join(room.folder, "remote.git"));
    pawl("web", {}, "sync", "--yes");
    const { audit } = JSON.parse(pawl("remote.git", {}, "audit", "--ci", "--json")).data;
    expect(audit).toMatchObject({ clean: true });
    expect(audit.branches[0].counts.approved).toBe(2);
  });

  test("nothing of all this was asked of another server, refused by the CSP or a mistake of a script", () => {
    expect(complaints).toEqual([]);
  });
});
