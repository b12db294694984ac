import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { Failure } from "../../src/model/failure.ts";
import { parseInput } from "../../src/model/input.ts";
import { NeedsFullYaml } from "../../src/model/record.ts";
import { context } from "../../src/ops/context.ts";
import { openRuntime } from "../../src/runtime/open.ts";
import { run } from "../../src/runtime/run.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

async function begin(project: Project): Promise<void> {
  await project.pawl(
    "task",
    "new",
    "Retry failed uploads",
    "--objective",
    "Uploads survive a lost connection",
    "--label",
    "uploads",
  );
  await project.pawl("task", "update", "T1", "--status", "active");
}

const contextOf = async (project: Project, ...more: string[]) =>
  (await project.pawl("context", ...more, "--json")).json.data.context;

/** The operation over the real store, with a world of which one answer is another. */
async function runWith(project: Project, change: object, input: object = {}) {
  const runtime = openRuntime({
    cwd: project.path,
    env: project.env,
    actor: undefined,
    operations: [],
    oneShot: false,
    progress() {},
  });
  Object.assign(runtime.world, change);
  return (await run(context, parseInput(context.input, input), runtime)).data as {
    context: { text: string; missing: string[]; related: unknown[] };
  };
}

describe("where there is little", () => {
  test("a repository without state gets a packet, and stays as it was", async ({ project }) => {
    const before = readdirSync(project.path);
    const { code, out, json } = await project.pawl("context", "--json");
    expect(code).toBe(0);
    expect(json.data.context).toMatchObject({ task: null, missing: ["task"], included: [], related: [] });
    expect(out).toContain("No task yet");
    expect(readdirSync(project.path)).toEqual(before);
  });

  test("a task that does not exist is not found, and several to choose from are refused", async ({
    project,
  }) => {
    expect((await project.pawl("context", "T7")).code).toBe(4);
    await begin(project);
    await project.pawl("task", "new", "Another");
    await project.pawl("task", "update", "T2", "--status", "active");
    const { code, err } = await project.pawl("context");
    expect(code).toBe(1);
    expect(err).toContain("T0002 Another");
  });

  test("a budget that is too small is wrong usage", async ({ project }) => {
    await begin(project);
    const { code, err } = await project.pawl("context", "T1", "--budget", "199");
    expect(code).toBe(3);
    expect(err).toContain("at least 200");
  });

  test("a new task says what is missing", async ({ project }) => {
    await begin(project);
    const { text } = await contextOf(project);
    expect(text).toContain("no decisions recorded, no evidence recorded, no review yet, no handoff yet");
    expect(text).toContain(": inspect the repository.");
  });
});

describe("a task in the middle of its life", () => {
  async function live(project: Project): Promise<void> {
    await begin(project);
    project.git("switch", "-q", "-c", "task/retry");
    project.commit("src/upload.ts", "export {};\n");
    project.write("src/jitter.ts", "export {};\n");
    await project.pawl("decide", "Backoff doubles up to 30 s", "--why", "The server bans faster clients");
    await project.pawl(
      "finding",
      "add",
      "The retry loop never ends",
      "--severity",
      "high",
      "--file",
      "src/upload.ts",
      "--line",
      "40",
      "--fix",
      "Count the attempts",
    );
    await project.pawl("slice", "open", "Backoff");
    await project.pawl("verify", "--", "sh", "-c", "echo broken; exit 3");
    await project.pawl(
      "handoff",
      "--what",
      "Retries work, backoff does not",
      "--next",
      "Make the backoff test pass",
      "--validation",
      "npm test: 1 failed",
    );
    await project.pawl(
      "note",
      "add",
      "Limits of the upload server",
      "--text",
      "It bans fast clients",
      "--about",
      "src/upload.ts",
    );
    await project.pawl("task", "new", "Show progress", "--depends", "T1");
  }

  test("everything needed to continue is in the packet", async ({ project }) => {
    await live(project);
    const { text, included, related, tokens, budget, task } = await contextOf(project);
    for (const part of [
      "# T0001 Retry failed uploads",
      "active, standard profile, base main, no branch yet, labels uploads",
      "on branch task/retry at ",
      "dirty (uncommitted changes)",
      "Uploads survive a lost connection",
      "- F1 high, src/upload.ts:40: The retry loop never ends\n  Fix: Count the attempts",
      "Next: Make the backoff test pass",
      "Checked: claimed: npm test: 1 failed",
      "- S1 open: Backoff",
      "- D1: Backoff doubles up to 30 s\n  Because: The server bans faster clients",
      "- E1 failed (3): `sh -c echo broken; exit 3` at this commit",
      "Output ended: broken",
      "- src/jitter.ts",
    ])
      expect(text).toContain(part);
    expect({ tokens, budget, task }).toEqual({
      tokens: Math.ceil(Buffer.byteLength(text) / 4),
      budget: 4_000,
      task: "T0001",
    });
    const own = ["T0001", "T0001/F1", "T0001/H1", "T0001/D1", "T0001/E1"];
    expect([...included].sort()).toEqual(["N0001", ...own, "T0002"].sort());
    expect(related).toHaveLength(2);
    expect(related).toContainEqual({
      ...{ id: "T0002", kind: "task", why: "it depends on T0001", score: expect.any(Number) },
    });
    expect(related).toContainEqual({
      ...{ id: "N0001", kind: "note", why: expect.stringContaining("same file src/upload.ts") },
      score: expect.any(Number),
    });
  });

  test("the text printed is the text measured", async ({ project }) => {
    await live(project);
    for (const budget of ["200", "300", "4000"]) {
      const { out } = await project.pawl("context", "T1", "--budget", budget);
      expect(Math.ceil(Buffer.byteLength(out) / 4)).toBeLessThanOrEqual(Number(budget));
      expect(out).toBe((await contextOf(project, "T1", "--budget", budget)).text);
    }
  });

  test("files changed here belong to the task that is worked on here, and to no other", async ({
    project,
  }) => {
    await live(project);
    expect((await contextOf(project, "T1")).text).toContain("- src/jitter.ts");
    expect((await contextOf(project, "T2")).text).not.toContain("src/jitter.ts");
  });

  test("reading changes no record and no event", async ({ project }) => {
    await live(project);
    const events = () => {
      const folder = join(stateOf(project), "events");
      return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith("l"))
        .map((name) => readFileSync(join(folder, name), "utf8"));
    };
    const before = events();
    expect(before.join("")).toContain("T0001");
    await project.pawl("context", "T1");
    expect(events()).toEqual(before);
  });
});

describe("when something is broken", () => {
  test("a search that fails leaves the rest of the packet", async ({ project }) => {
    await begin(project);
    await project.pawl("task", "new", "Show progress", "--depends", "T1");
    const findAlike = async () => {
      throw new Failure("unavailable", "no_index", "no");
    };
    const { context: packet } = await runWith(project, { findAlike });
    expect(packet.missing).toContain("search");
    expect(packet.text).toContain("T0002 (task, open; it depends on T0001)");
  });

  test("a git that fails leaves it open whether the repository is dirty", async ({ project }) => {
    await begin(project);
    const work = async () => {
      throw new Failure("unavailable", "git_failed", "no");
    };
    expect((await runWith(project, { work })).context.text).toContain("unknown whether dirty");
  });

  test("our own mistakes are not taken for a missing index", async ({ project }) => {
    await begin(project);
    const findAlike = async () => {
      throw new TypeError("a bug");
    };
    await expect(runWith(project, { findAlike })).rejects.toThrow(TypeError);
  });

  test("a record that needs the full parser reaches the one who can load it", async ({ project }) => {
    await begin(project);
    let asked = 0;
    const findAlike = async () => {
      if (asked++ === 0) throw new NeedsFullYaml("tasks/T0001/task.md");
      return [];
    };
    await runWith(project, { findAlike });
    expect(asked).toBe(2);
  });

  test("a hand-styled header of a related task is read", async ({ project }) => {
    await begin(project);
    await project.pawl("task", "new", "Show progress", "--depends", "T1");
    const file = join(stateOf(project), "tasks", "T0002", "task.md");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace("title: Show progress", "title: >-\n  Show\n  progress"),
    );
    expect((await contextOf(project, "T1")).text).toContain("it depends on T0001): Show progress");
  });

  test("a broken decision is named and hides nothing else", async ({ project }) => {
    await begin(project);
    await project.pawl("decide", "One", "--why", "a");
    await project.pawl("decide", "Two", "--why", "b");
    writeFileSync(join(stateOf(project), "tasks", "T0001", "decisions", "D1.md"), "not a record");
    const { code, json } = await project.pawl("context", "--json");
    expect(code).toBe(0);
    expect(json.data.context.text).toContain("unreadable files (tasks/T0001/decisions/D1.md)");
    expect(json.data.context.text).toContain("- D2: Two");
    expect(json.warnings.join()).toContain("D1.md");
  });

  test("a broken task of its own is an error, another one's is a warning", async ({ project }) => {
    await begin(project);
    await project.pawl("task", "new", "Show progress", "--depends", "T1");
    await project.pawl("note", "add", "See T0002 and T0001");
    writeFileSync(join(stateOf(project), "tasks", "T0002", "task.md"), "not a record");
    expect((await project.pawl("context", "T1")).code).toBe(0);
    expect((await project.pawl("context", "T2")).code).toBe(2);
  });

  test("an index folder that cannot be written to does not matter", async ({ project }) => {
    await begin(project);
    await project.pawl("task", "new", "Retry failed downloads", "--label", "downloads");
    const local = join(project.path, ".git", "pawl");
    chmodSync(local, 0o555);
    try {
      const { related } = await contextOf(project, "T1");
      expect(related).toMatchObject([{ id: "T0002", why: "about: retry, failed" }]);
    } finally {
      chmodSync(local, 0o755);
    }
  });
});

test("of a dependency with very many handoffs the latest one is told", async ({ project }) => {
  await begin(project);
  await project.pawl("handoff", "--what", "Backoff number 1 works", "--next", "go on", "--task", "T1");
  const folder = join(stateOf(project), "tasks/T0001/handoffs");
  const first = readFileSync(join(folder, "H1.md"), "utf8");
  for (let number = 2; number <= 101; number++) {
    const other = first.replace("T0001/H1", `T0001/H${number}`).replace("number 1 ", `number ${number} `);
    writeFileSync(join(folder, `H${number}.md`), other);
  }
  await project.pawl("task", "new", "Show progress", "--depends", "T1");
  const { text } = await contextOf(project, "T2");
  expect(text).toContain("Backoff number 101 works");
});
