// @module-tag proof
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDeciding } from "../../src/web/deciding.ts";
import { type House, handle } from "../../src/web/handle.ts";
import { type Listening, listen } from "../../src/web/serve.ts";
import { openTerminal } from "../../src/web/terminal.ts";
import { auditIn } from "../helpers/audited-project.ts";
import { hasBrowser, launchBrowser, openTab, withoutBrowser } from "../helpers/browser.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { openHouse } from "../helpers/page.ts";
import { gitIn } from "../helpers/ready-task.ts";
import {
  makePublished,
  publish,
  readyInBoth,
  type SignedProject,
  withApi,
} from "../helpers/signed-project.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** A key without hardware that behaves like one: Chromium's own, driven by its debugger. */
const AUTHENTICATOR = {
  protocol: "ctap2",
  transport: "usb",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

describe.skipIf(!hasBrowser)(`a passkey in Chromium${withoutBrowser}`, () => {
  let root: string;
  let project: SignedProject;
  let server: Listening;
  let house: House;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let origin: string;
  let [shown, typed] = ["", ""];
  let hear: (line: string) => void = () => {};

  beforeAll(async () => {
    root = makeTemporaryFolder("passkey");
    project = await makePublished(root, "approvals: signed\nchecks: none\n");
    const terminal = openTerminal({
      isTerminal: true,
      // A question ends with a colon; whoever sits there types what the test says.
      write: (text) => {
        shown += text;
        if (/^Type .*: $/.test(text) && typed !== "") setImmediate(() => hear(typed));
      },
      onLine: (listener) => {
        hear = listener;
      },
      onEnter: () => {},
    });
    const { path, env } = project.home;
    const around = { cwd: path, env, operations: [], oneShot: false, progress: () => {}, ask: terminal.ask };
    const deciding = openDeciding(around, terminal, (text) => {
      shown += text;
    });
    house = openHouse(project.home, { deciding });
    server = await listen(0, (request) => handle(request, house));
    origin = `http://pawl.localhost:${server.port}`;
    browser = await launchBrowser();
    ({ page, complaints } = await openTab(browser, origin));
    const debug = await page.context().newCDPSession(page);
    await debug.send("WebAuthn.enable");
    await debug.send("WebAuthn.addVirtualAuthenticator", { options: AUTHENTICATOR });
    // A script that comes late: whoever clicks before it is there must not have clicked for nothing.
    await page.route("**/sign.js", async (route) => {
      await sleep(400);
      await route.continue();
    });
    await page.goto(`${origin}/enter#${house.sessions.invite()}`);
    await page.waitForURL(`${origin}/`);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  });

  test("is enrolled on the page, confirmed on the terminal, and signs its own arrival", async () => {
    await page.goto(`${origin}/approvers`);
    await page.getByText("No keys yet").waitFor();
    typed = "ada-key";
    await page.getByLabel(/^Owner/).fill("Ada");
    await page.getByLabel(/^Name/).fill("ada-key");
    await page.getByRole("button", { name: "Make a passkey…" }).click();
    await page.getByRole("button", { name: "Sign with your key" }).click();
    await page.getByRole("cell", { name: "passkey" }).waitFor();
    expect(shown).toContain("Type ada-key to let it approve on main: ");
    expect(project.git("show", "main:.pawl/approvers.yaml")).toContain('rp: "pawl.localhost"');
    await publish(project);
  });

  test("signs a merge that CI verifies in a bare clone, with nothing typed on the terminal", async () => {
    await project.ready("One");
    [shown, typed] = ["", ""];
    await page.goto(`${origin}/t/T0001/approve`);
    const digits = await page.locator(".digits").textContent();
    await page.getByLabel("Type the task's id").fill("T0001");
    await page.getByRole("button", { name: "Continue with your key…" }).click();
    const sign = page.getByRole("button", { name: "Sign with your key and merge" });
    await sign.waitFor();
    // Both places show the same, before anything is signed.
    expect(shown).toContain(`Receipt ${digits}`);
    expect(await page.locator(".said").textContent()).toContain(`Receipt ${digits}`);
    expect(project.git("log", "-1", "--format=%s", "main")).not.toContain("T0001");
    await sign.click();
    await page.getByText("T0001 is merged").waitFor();
    await page.getByText("signed by Ada with ada-key (present)").waitFor();
    await page.goto(`${origin}/audit`);
    await page.getByRole("cell", { name: "Ada with ada-key (present)" }).waitFor();
    await publish(project);
    expect(await project.ci()).toMatchObject({
      code: 0,
      findings: [],
      counts: { approved: 1, unexplained: 0 },
    });
  });

  test("a click without a signature merges nothing, and neither does another's", async () => {
    await project.ready("Two");
    const answer = (body: Record<string, string>) =>
      page.evaluate(
        `fetch("/t/T0002/approve/sign", { method: "POST", headers: { "Content-Type": "application/json" }, body: ${JSON.stringify(JSON.stringify(body))} }).then((one) => one.status)`,
      );
    await page.goto(`${origin}/t/T0002/approve`);
    const forged = { credential: "AAAA", authenticator_data: "AAAA", client_data: "AAAA", signature: "AAAA" };
    expect(await answer(forged)).toBe(409);
    await page.getByLabel("Type the task's id").fill("T0002");
    await page.getByRole("button", { name: "Continue with your key…" }).click();
    await page.getByRole("button", { name: "Sign with your key and merge" }).waitFor();
    expect(await answer(forged)).toBe(200);
    await page.getByText("The signature does not count").waitFor();
    expect(project.git("log", "-1", "--format=%s", "main")).not.toContain("T0002");
  });

  test("is not offered under the name that it does not work at", async () => {
    const at = `http://localhost:${server.port}`;
    const elsewhere = await openTab(browser, at);
    await elsewhere.page.goto(`${at}/enter#${house.sessions.invite()}`);
    await elsewhere.page.waitForURL(`${at}/`);
    await elsewhere.page.goto(`${at}/t/T0002/approve`);
    await elsewhere.page.getByText(`Passkeys work only at ${origin}/`).waitFor();
    for (const name of ["Continue with your key…", "Ask on the terminal"])
      expect(await elsewhere.page.getByRole("button", { name }).count(), name).toBe(0);
    await elsewhere.context.close();
  });

  test("decides in a second repository as well, and one signature merges both or none", async () => {
    const { root: at, home, env } = project;
    const both = await withApi(project);
    const [, api] = both.repos as [Project, Project];
    await page.goto(`${origin}/approvers`);
    typed = "ada-key";
    await page.getByRole("button", { name: "Let ada-key approve in api too…" }).click();
    await page.getByRole("button", { name: "Sign with your key" }).click();
    await page.getByRole("table", { name: "Keys of main of api" }).waitFor();
    expect(api.git("show", "main:.pawl/approvers.yaml")).toContain("ada-key");

    const id = await readyInBoth(both);
    [shown, typed] = ["", ""];
    await page.goto(`${origin}/t/${id}/approve`);
    await page.getByText("in both repositories or in none").waitFor();
    await page.getByLabel("Type the task's id").fill(id);
    await page.getByRole("button", { name: "Continue with your key…" }).click();
    await page.getByRole("button", { name: "Sign with your key and merge" }).click();
    await page.getByText(`${id} is merged`).waitFor();
    for (const repo of [home, api]) expect(repo.git("log", "-1", "--format=%s", "main")).toContain(id);
    await publish(project);
    api.git("push", "-q", "origin", "main");
    expect(await project.ci()).toMatchObject({
      code: 0,
      findings: [],
      counts: { approved: 2, unexplained: 0 },
    });
    // The other repository is checked where its own branch is, with the records of the first.
    gitIn(project, join(at, "api.git"), "fetch", "-q", project.remote, "pawl/state:pawl/state");
    const other = openProject({ path: join(at, "api.git"), env });
    expect(await auditIn(other, "--ci", "--repo", "api")).toMatchObject({
      ...{ code: 0, findings: [] },
      counts: { approved: 1, unexplained: 0 },
    });
  });

  test("nothing of it was asked of another server, or refused by the CSP", () => {
    expect(complaints).toEqual([]);
  });
});
