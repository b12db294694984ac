import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDeciding } from "../../src/web/deciding.ts";
import { type House, handle } from "../../src/web/handle.ts";
import { type Listening, listen } from "../../src/web/serve.ts";
import { openTerminal } from "../../src/web/terminal.ts";
import { hasBrowser, launchBrowser, openTab, withoutBrowser } from "../helpers/browser.ts";
import { openHouse } from "../helpers/page.ts";
import { makePublished, publish, type SignedProject } from "../helpers/signed-project.ts";
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
    await page.getByText("Nobody is enrolled").waitFor();
    typed = "ada-key";
    await page.getByLabel("Whose key it is").fill("Ada");
    await page.getByLabel("A short name for it").fill("ada-key");
    await page.getByRole("button", { name: "Make a passkey…" }).click();
    await page.getByRole("button", { name: "Sign with your key" }).click();
    await page.getByRole("cell", { name: "passkey" }).waitFor();
    expect(shown).toContain("Type ada-key to let it decide on main: ");
    expect(project.git("show", "main:.pawl/approvers.yaml")).toContain('rp: "pawl.localhost"');
    await publish(project);
  });

  test("signs a merge that CI verifies in a bare clone, with nothing typed on the terminal", async () => {
    await project.ready("One");
    [shown, typed] = ["", ""];
    await page.goto(`${origin}/t/T0001/approve`);
    const digits = await page.locator(".digits").textContent();
    await page.getByLabel("Type the task's id").fill("T0001");
    await page.getByRole("button", { name: "Go on with your key…" }).click();
    const sign = page.getByRole("button", { name: "Sign with your key and merge" });
    await sign.waitFor();
    // Both places show the same, before anything is signed.
    expect(shown).toContain(`Receipt ${digits}`);
    expect(await page.locator(".said").textContent()).toContain(`Receipt ${digits}`);
    expect(project.git("log", "-1", "--format=%s", "main")).not.toContain("T0001");
    await sign.click();
    await page.getByText("T0001 is merged").waitFor();
    await page.getByText("signed by Ada with ada-key (present)").waitFor();
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
    await page.getByRole("button", { name: "Go on with your key…" }).click();
    await page.getByRole("button", { name: "Sign with your key and merge" }).waitFor();
    expect(await answer(forged)).toBe(200);
    await page.getByText("The signature does not count").waitFor();
    expect(project.git("log", "-1", "--format=%s", "main")).not.toContain("T0002");
  });

  test("nothing of it was asked of another server, or refused by the CSP", () => {
    expect(complaints).toEqual([]);
  });
});
