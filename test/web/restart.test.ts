// @module-tag proof
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, launchBrowser, openTab, withoutBrowser } from "../helpers/browser.ts";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { terminalFor } from "../helpers/pseudo-terminal.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** `pawl ui` as a person starts it, ends it and starts it again. */
let root: string;
let built: BuiltProgram;
let project: Project;

beforeAll(async () => {
  root = makeTemporaryFolder("restart");
  built = buildProgram();
  project = openProject(makeRepository(root, "shop"));
  project.commit("a.txt", "a\n");
  await project.pawl("task", "new", "Retry");
}, 120_000);
afterAll(() => {
  built?.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

interface Room {
  link: string;
  port: number;
  shown(): string;
  end(): Promise<void>;
}

async function openRoom(...argv: string[]): Promise<Room> {
  const [command, args] = terminalFor([process.execPath, built.pawl, "ui", "--no-open", ...argv]);
  const env = { ...project.env, TERM: "dumb", SHELL: "/bin/sh", NO_COLOR: "1" };
  const child = spawn(command, args, { cwd: project.path, env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((done) => child.on("close", () => done()));
  let shown = "";
  child.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString("utf8").replaceAll("\r", "");
  });
  const isThere = () => /http:\S+#[\w-]+|pawl: /.exec(shown)?.[0];
  await expect.poll(isThere, { timeout: 30_000 }).toBeDefined();
  const link = isThere() ?? "";
  return {
    link,
    port: link.startsWith("http") ? Number(new URL(link).port) : 0,
    shown: () => shown,
    async end() {
      child.stdin.write("\u0003");
      await ended;
    },
  };
}

function takePort(port: number): Promise<Server> {
  const other = createServer((_, response) => response.end("not pawl"));
  return new Promise((done) => other.listen(port, "127.0.0.1", () => done(other)));
}

const give = (server: Server) => new Promise((done) => server.close(done));

test("a project's page is at the same port every time, between 20000 and 29999", async () => {
  const first = await openRoom();
  await first.end();
  const second = await openRoom();
  await second.end();
  expect(second.port).toBe(first.port);
  expect(first.port).toBeGreaterThanOrEqual(20_000);
  expect(first.port).toBeLessThan(30_000);
  expect(first.shown()).not.toContain("is taken");
});

test("where somebody else has that port, the next one is taken and that is said; a port that was named is not changed", async () => {
  const usual = await openRoom();
  await usual.end();
  const other = await takePort(usual.port);
  try {
    const beside = await openRoom();
    await beside.end();
    expect(beside.port).toBe(usual.port + 1);
    expect(beside.shown()).toContain(`Port ${usual.port}, this project's usual one, is taken`);
    const named = await openRoom("--port", String(usual.port));
    await named.end();
    expect(named.shown()).toContain(`pawl: Port ${usual.port} is taken.`);
    expect(named.port).toBe(0);
  } finally {
    await give(other);
  }
});

describe.skipIf(!hasBrowser)(`an open tab${withoutBrowser}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  }, 60_000);
  afterAll(() => browser?.close());

  const enter = async (page: Page, { link }: Room) => {
    await page.goto(link);
    await page.waitForURL((url) => url.pathname === "/");
  };

  test("reconnects after a restart once this browser is let in again in any tab, and keeps what was typed", async () => {
    const before = await openRoom();
    const { context, page } = await openTab(browser, new URL(before.link).origin);
    await enter(page, before);
    await page.goto(`${new URL(before.link).origin}/t/T0001`);
    await page.locator("#live").waitFor();
    const form = await context.newPage();
    await form.goto(`${new URL(before.link).origin}/new/task`);
    await form.getByLabel(/^Objective/).fill("Typed before the restart");
    await before.end();
    await page.getByText("not connected").waitFor();
    const after = await openRoom();
    try {
      await page.getByText("open pawl ui's new link").waitFor();
      await enter(await context.newPage(), after);
      await page.locator("#live").waitFor();
      expect(await page.locator("#lost").isVisible()).toBe(false);
      await project.pawl("task", "update", "T1", "--blocker", "Which number?");
      await page.getByText("Waiting for you: Which number?").waitFor();
      await form.reload();
      expect(await form.getByLabel(/^Objective/).inputValue()).toBe("Typed before the restart");
    } finally {
      await after.end();
      await context.close();
    }
  });
});

test.skipIf(!hasBrowser)(
  `a browser that cannot find pawl.localhost gets in by localhost, and stays there${withoutBrowser}`,
  async () => {
    const room = await openRoom();
    const browser = await launchBrowser("--host-resolver-rules=MAP pawl.localhost ~NOTFOUND");
    try {
      expect(room.shown()).toContain(
        "If your browser cannot find pawl.localhost, put localhost in its place.",
      );
      const origin = `http://localhost:${room.port}`;
      const lost = await openTab(browser, origin);
      await expect(lost.page.goto(room.link)).rejects.toThrow("ERR_NAME_NOT_RESOLVED");
      const { page, complaints } = await openTab(browser, origin);
      await page.goto(room.link.replace("pawl.localhost", "localhost"));
      await page.waitForURL(`${origin}/`);
      await page.goto(`${origin}/new/task`);
      await page.getByLabel(/^Title/).fill("Made at localhost");
      await page.getByRole("button", { name: "Create task" }).click();
      await page.getByRole("heading", { name: "Made at localhost" }).waitFor();
      await page.locator("#live").waitFor();
      await page.goto(`${origin}/approvers`);
      await page.getByText(`Passkeys work only at http://pawl.localhost:${room.port}/`).waitFor();
      expect(await page.getByRole("button", { name: "Make a passkey…" }).count()).toBe(0);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      await room.end();
    }
  },
);
