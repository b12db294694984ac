import { rmSync } from "node:fs";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { agentsIn, decideActor, nameAgent, printActor } from "../../src/model/actor.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { buildPawl, call, connect, type Place } from "../helpers/mcp-server.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

describe("the name of an agent", () => {
  test.each([
    ["claude", "agent:claude-code"],
    ["claude-code", "agent:claude-code"],
    ["codex", "agent:codex"],
    ["codex-mcp-client", "agent:codex"],
    ["github-copilot-developer", "agent:copilot"],
    ["Visual Studio Code", "agent:copilot"],
    ["gemini-cli-mcp-client", "agent:gemini"],
    ["my own client", "agent:my own client"],
    ["human:Ada", "agent:human Ada"],
    ["  \n\u0000 ", "agent:unknown"],
    ["x".repeat(500), `agent:${"x".repeat(60)}`],
  ])("%j is %s", (words, actor) => expect(printActor(nameAgent(words))).toBe(actor));

  test("the environment says more than a name, and a name more than a claim", () => {
    const claude = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s" };
    const decide = (env: Record<string, string>) => {
      const agent = agentsIn(env)[0] ?? nameAgent("codex");
      return printActor(decideActor({ env, agent, claimed: "human:Ada", gitUser: "Ada" }).actor);
    };
    expect(decide({})).toBe("agent:codex");
    expect(decide({ PAWL_ACTOR: "human:Ada" })).toBe("agent:codex");
    expect(decide(claude)).toBe("agent:claude-code:s");
    expect(agentsIn({ ...claude, CODEX_CI: "1" }).map(printActor)).toEqual(["agent:claude-code:s"]);
  });
});

describe("nobody who calls over MCP is a human", () => {
  let built: ReturnType<typeof buildPawl>;
  let shop: Project;

  beforeAll(() => {
    built = buildPawl();
  }, 60_000);
  afterAll(() => rmSync(built.folder, { recursive: true, force: true, maxRetries: 3 }));
  beforeEach(() => {
    const root = makeTemporaryFolder("who");
    shop = openProject(makeRepository(root, "shop"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  });

  async function open(place: Partial<Place> = {}): Promise<Client> {
    const env = { ...shop.env, ...place.env };
    const args = ["--tools", "all", ...(place.args ?? [])];
    const client = await connect({ ...built, cwd: shop.path, ...place, env, args });
    onTestFinished(() => client.close());
    return client;
  }

  test.each<[string, Partial<Place>, string]>([
    ["its environment", { env: { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" } }, "agent:claude-code:s1"],
    ["its name", { args: ["--agent", "codex"] }, "agent:codex"],
    ["the client's name", { name: "codex-mcp-client" }, "agent:codex"],
    ["the client's name, for any agent", { args: ["--agent", "generic"], name: "Zed" }, "agent:Zed"],
    ["no claim", { env: { PAWL_ACTOR: "human:Ada" }, name: "human:Ada" }, "agent:human Ada"],
    [
      "the environment before its name",
      { env: { GEMINI_CLI: "1" }, args: ["--agent", "codex"] },
      "agent:gemini",
    ],
  ])("who it is, is told by %s", async (_how, place, actor) => {
    const client = await open(place);
    const { data } = await call(client, "task_new", { title: "One" });
    expect(data.task.actor).toBe(actor);
    expect(shop.read("tasks/T0001/task.md")).toContain(`actor: "${actor}"`);
  });

  test("a less careful profile, a dropped dependency and a settled conflict are a human's", async () => {
    shop.write(".pawl/config.yaml", "profile: standard\n");
    shop.git("add", "-A");
    shop.git("commit", "-q", "-m", "Policy");
    await shop.pawl("task", "new", "First");
    await shop.pawl("task", "new", "Second", "--depends", "T1");
    const client = await open({ env: { PAWL_ACTOR: "human:Ada" } });
    const refused = async (tool: string, input: object) => (await call(client, tool, input)).data.error?.code;
    expect(await refused("task_new", { title: "Sloppy", profile: "light" })).toBe("human_only");
    expect(await refused("task_update", { task: "T1", profile: "light" })).toBe("human_only");
    expect(await refused("task_update", { task: "T2", depends: [] })).toBe("human_only");
    expect(await refused("sync", { ours: ["T1"] })).toBe("bad_input");
    expect(await refused("audit", { ci: true, updates: "a b c" })).toBe("bad_input");
    for (const tool of [
      "approve",
      "unlock",
      "install",
      "uninstall",
      "repo_remove",
      "hook_pre-push",
      "task_edit",
    ])
      expect(await refused(tool, { task: "T1" }), tool).toBe("not_offered");
    expect(await refused("no_such", {})).toBe("no_tool");
    expect((await shop.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(2);
    expect(shop.read("tasks/T0001/task.md")).toContain("profile: standard");
  });

  test("with core only, the others are not there", async () => {
    const client = await connect({ ...built, cwd: shop.path, env: shop.env });
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(29);
    const { data, text } = await call(client, "note_list", {});
    expect(data.error.code).toBe("not_offered");
    expect(text).toContain("--tools all");
    expect((await call(client, "task_new", { title: "x", base: "main" })).data.error.code).toBe("bad_input");
  });

  test("a wrong call is not sent to the help of the command line", async () => {
    const client = await open();
    await shop.pawl("task", "new", "One");
    for (const [tool, input, code] of [
      ["task_update", { task: "T1" }, "nothing_to_change"],
      ["task_show", { task: "soon" }, "bad_task_id"],
      ["task_update", { task: "T1", depends: ["soon"] }, "bad_task_id"],
    ] as const) {
      const { data, text } = await call(client, tool, input);
      expect(data.error.code, tool).toBe(code);
      expect(text).not.toMatch(/--help|For example: pawl/);
    }
  });

  test("an agent whose session is not known may not judge what any session of it wrote", {
    tags: ["proof"],
  }, async () => {
    const shell = { CODEX_SESSION_ID: "s1" };
    await shop.pawlIn(shop.path, shell, "task", "new", "One");
    await shop.pawlIn(shop.path, shell, "start", "T1");
    const found = ["finding", "add", "bad", "--severity", "low", "--task", "T1"];
    await shop.pawl(...found);
    const codex = await open({ args: ["--agent", "codex"] });
    const aside = { finding: "T1/F1", note: "mine" };
    for (const tool of ["finding_defer", "finding_wontfix"])
      expect((await call(codex, tool, aside)).data.error.code).toBe("author_may_not");
    const review = { task: "T1", kind: "branch", verdict: "fail", looked_at: ["a"] };
    expect((await call(codex, "review_record", review)).data.review.counts).toBe(false);
    const other = await open({ args: ["--agent", "claude"] });
    expect((await call(other, "review_record", review)).data.review.counts).toBe(true);
    expect((await call(other, "finding_defer", aside)).failed).toBe(false);
  });
});
