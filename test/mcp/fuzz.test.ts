// @module-tag proof
// @module-tag again
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fieldsOf } from "../../src/mcp/schema.ts";
import { TOOLS, toolIds, toolName } from "../../src/mcp/tools.ts";
import { operations } from "../../src/ops/index.ts";
import type { AnyOperation } from "../../src/ports/operation.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { runs } from "../helpers/long-runs.ts";
import { buildPawl, RawClient } from "../helpers/mcp-server.ts";
import { makeRepository, makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";

let built: ReturnType<typeof buildPawl>;
let root: string;
let shop: Project;
let client: RawClient;
let before: string;
const inputs = new Map<string, { offered: string[]; operation: AnyOperation }>();

beforeAll(async () => {
  built = buildPawl();
  root = makeTemporaryFolder("fuzz");
  shop = openProject(makeRepository(root, "shop"));
  await shop.pawl("task", "new", "One", "--plan-file", "README.md");
  await shop.pawl("start", "T1");
  await shop.pawl("slice", "open", "Slice", "--task", "T1");
  await shop.pawl("finding", "add", "bad", "--severity", "low", "--task", "T1");
  for (const id of toolIds("all")) {
    const operation = await operations[id]?.();
    const spec = TOOLS[id];
    if (operation && spec) inputs.set(toolName(id), { offered: fieldsOf(operation, spec, "all"), operation });
  }
  client = new RawClient({ ...built, cwd: shop.path, env: shop.env, args: ["--tools", "all"] });
  await client.initialize();
  before = fingerprint();
}, 120_000);

afterAll(async () => {
  expect(await client.end()).toBe(0);
  for (const path of [root, built.folder]) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
});

beforeEach(() => expect(fingerprint()).toBe(before));

/** Every record and every ref, byte for byte; what is generated from them may be made anew. */
function fingerprint(): string {
  const digest = createHash("sha256");
  const folder = stateOf(shop);
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const path of paths)
    if (!path.startsWith(".local") && statSync(join(folder, path)).isFile())
      digest.update(`${path}\0`).update(readFileSync(join(folder, path)));
  return digest.update(shop.git("for-each-ref")).update(shop.git("worktree", "list")).digest("hex");
}

async function lives(): Promise<void> {
  expect((await client.request("ping")).result).toEqual({});
  expect(fingerprint()).toBe(before);
}

const RUNS = { ...runs(60), timeout: 30_000 };
const tools = fc.constantFrom(...toolIds("all").map(toolName));
/** Whatever JSON can say, with the keys that objects of the language know. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "\u0000",
    "\ud800",
    "../../etc",
    "-1",
    "T1; rm -rf /",
    "\u202e",
  ),
  fc.integer({ min: 200_001, max: 300_000 }).map((length) => "x".repeat(length)),
);
const unknownKey = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "toString",
    "prototype",
    "actor",
    "key",
    "dry_run",
    "json",
    "cwd",
    "",
  ),
  fc.string({ minLength: 1, maxLength: 12 }),
);

async function refused(name: string, text: string): Promise<void> {
  const id = 1_000_000 + client.messages.length;
  const answer = client.request("ping", {}, id + 1);
  client.send(
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${text}}}\n`,
  );
  await answer;
  const found = await waitFor(id);
  expect(
    found.error !== undefined || found.result.isError === true,
    JSON.stringify(found).slice(0, 300),
  ).toBe(true);
  if (found.result) expect(found.result.content[0].text).not.toMatch(/internal|bug in pawl/);
}

async function waitFor(id: number) {
  for (;;) {
    const found = client.messages.find((one) => one.id === id);
    if (found) return found;
    await new Promise((resume) => setTimeout(resume, 2));
  }
}

/** Good values, so that only what is spoilt can be the reason for a refusal. */
const GOOD: Record<string, unknown> = {
  ...{ task: "T1", title: "t", what: "w", why: "y", next: "n", text: "t", severity: "low", kind: "branch" },
  ...{ stage: "close", slice: "S1", decision: "d", finding: "F1", note: "n", verdict: "pass", reason: "r" },
  ...{ words: ["w"], files: ["f"], keep: true, command: ["true"] },
};

function goodInput(tool: string): Record<string, unknown> {
  const { offered = [], operation } = inputs.get(tool) ?? {};
  const needed = offered.filter((field) => field in GOOD && isRequired(operation, field));
  return Object.fromEntries(needed.map((field) => [field, GOOD[field]]));
}

function isRequired(operation: AnyOperation | undefined, field: string): boolean {
  return operation?.input.shape[field].safeParse(undefined).success === false;
}

describe("bad calls are refused, and neither crash the server nor write anything", () => {
  test("keys that no tool has", async () => {
    await fc.assert(
      fc.asyncProperty(tools, unknownKey, junk, async (tool, key, value) => {
        fc.pre(!inputs.get(tool)?.offered.includes(key) && !(tool === "verify" && key === "repo"));
        // Written as text, because an object of the language would swallow the key __proto__.
        const own = JSON.stringify(goodInput(tool)).slice(1, -1);
        await refused(tool, `{${own}${own ? "," : ""}${JSON.stringify(key)}:${JSON.stringify(value)}}`);
      }),
      RUNS,
    );
    await lives();
  });

  test("values of the wrong form", async () => {
    await fc.assert(
      fc.asyncProperty(tools, fc.nat(), junk, async (tool, nth, value) => {
        const { offered = [], operation } = inputs.get(tool) ?? {};
        fc.pre(offered.length > 0 && operation !== undefined);
        const field = offered[nth % offered.length] ?? "";
        fc.pre(operation?.input.shape[field].safeParse(value).success === false);
        await refused(tool, JSON.stringify({ ...goodInput(tool), [field]: value }));
      }),
      RUNS,
    );
    await lives();
  });

  test("arguments that are no object, and names that are no tool", async () => {
    const shapes = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.array(junk, { maxLength: 2 }),
      fc.boolean(),
      fc.constant(null),
    );
    await fc.assert(
      fc.asyncProperty(tools, shapes, (tool, args) => refused(tool, JSON.stringify(args))),
      runs(30),
    );
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom("__proto__", "constructor", "toString", "approve", "task.new"),
    );
    await fc.assert(
      fc.asyncProperty(names, (name) => refused(name, "{}")),
      runs(30),
    );
    await lives();
  });

  test("ids and words that name nothing", async () => {
    for (const task of [
      "T9",
      "../T1",
      "T1/../T2",
      "",
      " ",
      "T0",
      "T99999999999",
      "\u0000",
      "x".repeat(5_000),
    ])
      for (const tool of ["verify", "decide", "start", "finding_add", "snapshot", "slice_open", "handoff"])
        await refused(tool, JSON.stringify({ ...goodInput(tool), task }));
    await refused("verify", JSON.stringify({ task: "T1", command: ["true"], slice: "S9" }));
    await refused("verify", JSON.stringify({ task: "T1", command: ["true"], repo: 7 }));
    await refused("finding_resolve", JSON.stringify({ finding: "T1/F9/F1" }));
    await lives();
  });

  test("values of enormous size", async () => {
    const big = "y".repeat(7_000_000);
    await refused("task_new", JSON.stringify({ title: big }));
    await refused("handoff", JSON.stringify({ what: big, next: "n", task: "T1" }));
    await refused("search", JSON.stringify({ words: Array.from({ length: 100_000 }, () => "w") }));
    await refused("task_new", JSON.stringify({ title: "t", nested: `${"[".repeat(10_000)}` }));
    await refused("task_new", `{"title":${"[".repeat(20_000)}${"]".repeat(20_000)}}`);
    await lives();
  });
});

describe("whatever is no message is passed over", () => {
  const call = (id: unknown) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "task_new", arguments: { title: "sneaked in" } },
  });

  test("lines that are no JSON, or no JSON-RPC", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
        client.send(`${text.replaceAll("\n", " ")}\n`);
        await lives();
      }),
      runs(60),
    );
    const whole = JSON.stringify(call(7));
    for (let cut = 1; cut < whole.length; cut += 9) client.send(`${whole.slice(0, cut)}\n`);
    client.send("\n\n\r\n");
    await lives();
  });

  test("calls in a batch, with an id of the wrong form, or under another protocol", async () => {
    client.send(`${JSON.stringify([call(1), call(2)])}\n`);
    for (const id of [null, {}, [], 1.5, true]) client.send(`${JSON.stringify(call(id))}\n`);
    client.send(`${JSON.stringify({ ...call(9_001), jsonrpc: "1.0" })}\n`);
    // Without an id nobody waits for an answer: it is a notification, and there is none of that name.
    client.send(`${JSON.stringify({ ...call(0), id: undefined })}\n`);
    await lives();
  });

  test("bytes that are no UTF-8: such a call is refused and not mended", async () => {
    const [left = "", right = ""] = JSON.stringify(call(9_100)).split("sneaked");
    const seen = client.messages.length;
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f]])
      client.send(Buffer.concat([Buffer.from(left), Buffer.from(bytes), Buffer.from(`${right}\n`)]));
    await lives();
    const errors = client.messages.slice(seen).filter((one) => one.error);
    expect(errors.map((one) => [one.id, one.error.code])).toEqual(Array(4).fill([null, -32_700]));
  });

  test("a line that is too long, in pieces; the next one counts again", async () => {
    client.send(JSON.stringify(call(9_200)).slice(0, -3));
    for (let i = 0; i < 20; i++) client.send("z".repeat(500_000));
    client.send('"}}}\n');
    await lives();
  });

  test("methods that are not there, and parameters of the wrong form", async () => {
    const methods = fc.constantFrom(
      "tools/call",
      "tools/list",
      "resources/read",
      "initialize",
      "nothing/here",
      "prompts/list",
    );
    await fc.assert(
      fc.asyncProperty(methods, fc.dictionary(unknownKey, junk, { maxKeys: 3 }), async (method, params) => {
        const answer = await client.request(method, params);
        expect(answer.result !== undefined || answer.error !== undefined).toBe(true);
      }),
      runs(50),
    );
    await lives();
  });

  test("calls before initialize are refused", async () => {
    const early = new RawClient({ ...built, cwd: shop.path, env: shop.env });
    const answer = await early.call("task_new", { title: "too early" });
    expect(answer.error).toMatchObject({ code: -32_600, message: expect.stringContaining("initialize") });
    expect((await early.request("resources/read", { uri: "pawl://task/T1" })).error.code).toBe(-32_600);
    await early.initialize();
    expect((await early.call("session")).result.isError).toBeUndefined();
    expect(await early.end()).toBe(0);
  });
});

test("not one of all these was our own mistake", () => {
  expect(client.err).not.toMatch(/ at .*\.cjs|TypeError|ReferenceError/);
});
