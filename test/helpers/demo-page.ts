import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchBrowser, openTab } from "./browser.ts";
import { type DemoRoom, openDemoRoom } from "./demo-room.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/pawl.cjs", import.meta.url));

/** The real page of a filled project, in a real Chromium that has been let in. */
export interface DemoPage {
  room: DemoRoom;
  browser: Browser;
  context: BrowserContext;
  page: Page;
  /** Everything that must not happen and did: mistakes of scripts, refusals of the CSP, requests to elsewhere. */
  complaints: string[];
  origin: string;
  go(path: string): Promise<unknown>;
  /** Runs a command in one of the repositories, beside the page. */
  pawl(where: string, env: Record<string, string>, ...words: string[]): string;
  close(): Promise<void>;
}

export async function openDemoPage(): Promise<DemoPage> {
  const [room, browser] = await Promise.all([openDemoRoom(), launchBrowser()]);
  const link = await room.link();
  const { origin } = new URL(link);
  const tab = await openTab(browser, origin, { viewport: { width: 1440, height: 900 } });
  await tab.page.goto(link);
  await tab.page.waitForURL(`${origin}/`);
  return {
    ...{ room, browser, origin, ...tab },
    go: (path) => tab.page.goto(`${origin}${path}`),
    pawl: (where, env, ...words) =>
      execFileSync(process.execPath, [PROGRAM, ...words], {
        cwd: join(room.folder, where),
        env: { ...room.env, ...env },
        encoding: "utf8",
      }),
    async close() {
      await browser.close();
      await room.close();
    },
  };
}
