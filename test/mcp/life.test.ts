import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openProject, type Project } from "../helpers/command-line.ts";
import { buildPawl, type Place, RawClient } from "../helpers/mcp-server.ts";
import { makeRepository, makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";

let built: ReturnType<typeof buildPawl>;
let root: string;
let shop: Project;

beforeAll(() => {
  built = buildPawl();
}, 60_000);
afterAll(() => rmSync(built.folder, { recursive: true, force: true, maxRetries: 3 }));
beforeEach(() => {
  root = makeTemporaryFolder("life");
  shop = openProject(makeRepository(root, "shop"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
});

async function open(place: Partial<Place> = {}): Promise<RawClient> {
  const client = new RawClient({ program: built.program, cwd: shop.path, env: shop.env, ...place });
  onTestFinished(() => void client.child.kill("SIGKILL"));
  await client.initialize();
  return client;
}

async function started(client: RawClient): Promise<void> {
  await client.call("task_new", { title: "One" });
  await client.call("start", { task: "T1" });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

const soon = (check: () => void) => vi.waitFor(check, { timeout: 50_000, interval: 50 });

/** Whoever holds a lock of ours has a file in its folder; git's own locks are files. */
function locksLeft(): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => /\.lock$|\/(?:[^/]*\.lock|lock|held\/[^/]+)\/[^/]+$/.test(path));
}

describe("a server sees what others do", () => {
  test("what another process changes is there in the next call", { tags: ["proof"] }, async () => {
    const client = await open();
    await started(client);
    for (let round = 1; round <= 5; round++) {
      await shop.pawl("task", "update", "T1", "--next", `step ${round}`);
      await shop.pawl("finding", "add", `finding ${round}`, "--severity", "high", "--task", "T1");
      const { result } = await client.call("session", { task: "T1" });
      expect(result.content[0].text).toContain(`finding ${round}`);
      const { result: listed } = await client.call("finding_list", { task: "T1" });
      expect(listed.structuredContent.findings).toHaveLength(round);
    }
    const file = join(stateOf(shop), "tasks/T0001/task.md");
    writeFileSync(file, readFileSync(file, "utf8").replace("title: One", "title: By hand"));
    expect((await client.call("session")).result.content[0].text).toContain("By hand");
    rmSync(stateOf(shop), { recursive: true });
    expect((await client.call("session")).result.content[0].text).toContain("T0001");
  });

  test("calls at the same time do not disturb each other", { tags: ["proof"] }, async () => {
    const client = await open();
    await started(client);
    const calls = Array.from({ length: 40 }, (_, index) =>
      index % 4 === 0
        ? client.call("verify", { command: ["sh", "-c", "sleep 0.2"], task: "T1" })
        : client.call("decide", { what: `d${index}`, why: "w", task: "T1" }),
    );
    for (const { result } of await Promise.all(calls)) expect(result.isError).toBeUndefined();
    const { decisions, evidence } = (await shop.pawl("task", "show", "T1", "--json")).json.data;
    expect([decisions.length, evidence.length]).toEqual([30, 10]);
  });

  test("eight servers write at once: nothing is lost, no id is given twice, no lock is left", {
    tags: ["proof"],
  }, async () => {
    const first = await open();
    await started(first);
    const servers = [first, ...(await Promise.all(Array.from({ length: 7 }, () => open())))];
    const made = await Promise.all(
      servers.flatMap((client, index) =>
        Array.from({ length: 8 }, (_, n) =>
          client.call("decide", { what: `${index} ${n}`, why: "w", task: "T1" }),
        ),
      ),
    );
    const ids = made.map(({ result }) => result.structuredContent.decision.id);
    expect(new Set(ids).size).toBe(64);
    expect((await shop.pawl("task", "show", "T1", "--json")).json.data.decisions).toHaveLength(64);
    expect(locksLeft()).toEqual([]);
    for (const client of servers) expect(await client.end()).toBe(0);
    expect(locksLeft()).toEqual([]);
  });
});

describe("a server goes when its client does", () => {
  test("the end of its input ends it, and a check that runs with it", { tags: ["proof"] }, async () => {
    const client = await open();
    await started(client);
    void client
      .call("verify", { command: ["sh", "-c", "echo $$ > ../../../pid; sleep 600"], task: "T1" })
      .catch(() => {});
    await soon(() => expect(readFileSync(join(root, "pid"), "utf8")).toMatch(/\d\n/));
    const check = Number(readFileSync(join(root, "pid"), "utf8"));
    const began = Date.now();
    expect(await client.end()).toBe(0);
    expect(Date.now() - began).toBeLessThan(50_000);
    await soon(() => expect(isAlive(check)).toBe(false));
    expect((await shop.pawl("task", "show", "T1", "--json")).json.data.evidence).toEqual([]);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s ends it, also while a check runs",
    { tags: ["proof"] },
    async (signal) => {
      const client = await open();
      await started(client);
      void client.call("verify", { command: ["sleep", "60"], task: "T1" }).catch(() => {});
      await wait(300);
      client.child.kill(signal);
      expect(await client.ended).toBe(0);
    },
  );

  test("a closed output ends it", async () => {
    const client = await open();
    client.child.stdout?.destroy();
    client.send(`${JSON.stringify({ jsonrpc: "2.0", id: 90, method: "ping" })}\n`);
    client.send(`${JSON.stringify({ jsonrpc: "2.0", id: 91, method: "ping" })}\n`);
    expect(await client.ended).toBe(0);
  });

  test("a killed client takes it along, even when somebody else keeps the pipe open", {
    tags: ["proof"],
  }, async () => {
    // The client starts a server and a bystander that inherits the writing end of the server's input.
    const script = `
      const { spawn } = require("node:child_process");
      const server = spawn(process.execPath, [${JSON.stringify(built.program)}, "mcp"], { stdio: ["pipe", "pipe", "inherit"] });
      const bystander = spawn("sleep", ["60"], { stdio: ["ignore", "ignore", "ignore", server.stdin] });
      server.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18",
        capabilities: {}, clientInfo: { name: "c", version: "1" } } }) + "\\n");
      server.stdout.once("data", () => console.log(server.pid + " " + bystander.pid));
      setInterval(() => {}, 1000);`;
    const client = spawn(process.execPath, ["-e", script], {
      cwd: shop.path,
      env: shop.env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(client.stdout, "data");
    const [server = 0, bystander = 0] = String(line).trim().split(" ").map(Number);
    onTestFinished(() => {
      if (isAlive(bystander)) process.kill(bystander, "SIGKILL");
    });
    expect(isAlive(server)).toBe(true);
    client.kill("SIGKILL");
    await soon(() => expect(isAlive(server)).toBe(false));
    expect(isAlive(bystander)).toBe(true);
  });
});

describe("a long check", () => {
  test("is stopped with all that it started when the call is cancelled, and nothing is recorded", async () => {
    const client = await open();
    await started(client);
    const command = ["sh", "-c", "sleep 61 & echo $! > ../../../pid; wait"];
    void client
      .request("tools/call", { name: "verify", arguments: { command, task: "T1" } }, 77)
      .catch(() => {});
    await soon(() => expect(readFileSync(join(root, "pid"), "utf8")).toMatch(/\d\n/));
    const check = Number(readFileSync(join(root, "pid"), "utf8"));
    client.send(
      `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } })}\n`,
    );
    await soon(() => expect(isAlive(check)).toBe(false));
    expect((await client.call("finding_list", { task: "T1" })).result.structuredContent).toEqual({
      findings: [],
    });
    expect(existsSync(join(stateOf(shop), "tasks/T0001/evidence"))).toBe(false);
  });

  test("tells a client that asked how it goes, and says little in the end", { tags: ["proof"] }, async () => {
    const client = await open();
    await started(client);
    const command = [
      "sh",
      "-c",
      "yes some output of a test | head -n 200000; sleep 3; echo the last word; exit 3",
    ];
    const { result } = await client.call("verify", { command, task: "T1" }, { progressToken: "p" });
    const told = client.messages.filter((one) => one.method === "notifications/progress");
    expect(told.length).toBeGreaterThan(0);
    expect(told[0].params).toMatchObject({ progressToken: "p", message: "some output of a test" });
    expect(result.structuredContent.evidence).toMatchObject({ exit_code: 3 });
    expect(result.content[0].text).toContain("the last word");
    expect(JSON.stringify(result).length).toBeLessThan(8_000);
    expect(client.err).toBe("");
  });

  test("prints nothing but the protocol, whatever the check and git print", async () => {
    const client = await open();
    await started(client);
    await client.call("verify", { command: ["sh", "-c", "echo out; echo err >&2"], task: "T1" });
    for (const tool of ["snapshot", "search", "check", "context"])
      await client.call(
        tool,
        { search: { words: ["one"] }, check: { stage: "close" } }[tool] ?? { task: "T1" },
      );
    // Every line was parsed as a message when it came.
    expect(await client.end()).toBe(0);
    expect(client.messages.every((one) => one.jsonrpc === "2.0")).toBe(true);
    expect(client.err).toBe("");
  });
});

describe("the command line of the server", () => {
  const pawl = (...args: string[]) =>
    execFileSync(process.execPath, [built.program, ...args], {
      cwd: shop.path,
      env: shop.env,
      encoding: "utf8",
      input: "",
    });

  test("help names it and its flags", { tags: ["proof"] }, () => {
    expect(pawl("--help")).toMatch(/pawl mcp +Serve an agent over MCP/);
    expect(pawl("mcp", "--help")).toMatch(/--tools=<core\|all\|manager>[\s\S]*--agent=<NAME>/);
    expect(pawl("mcp")).toBe("");
  });

  test.each([
    [["--tools", "some"], 3, /one of core, all/],
    [["--actor", "human:Ada"], 3, /takes --tools and --agent only/],
    [["--json"], 3, /takes --tools and --agent only/],
    [["extra"], 3, /unexpected extra word/],
    [["--agnet", "x"], 3, /Did you mean --agent/],
  ])("%j is refused", async (args, code, words) => {
    const { code: got, err, out } = await shop.pawl("mcp", ...args);
    expect({ got, said: err + out }).toEqual({ got: code, said: expect.stringMatching(words) });
  });
});
