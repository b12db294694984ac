import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test as pure } from "vitest";
import { APPROVERS } from "../../src/web/deciding.ts";
import type { House } from "../../src/web/handle.ts";
import { markdown } from "../../src/web/markdown.ts";
import { ROUTES } from "../../src/web/routes.ts";
import { type Project, type Result, test } from "../helpers/command-line.ts";
import { openHouse, visit } from "../helpers/page.ts";

const EVIL = `"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e`;

/** A task with one of everything, and words that try to be more than words. */
async function fill(project: Project): Promise<void> {
  project.commit("a.ts", "const one = 1;\n");
  await expectDone(project.pawl("task", "new", `Retry ${EVIL}`, "--objective", `Because ${EVIL}`));
  const started = await expectDone(project.pawl("start", "T1", "--json"));
  const tree = join(project.path, started.json.data.run.repos[0].worktree);
  writeFileSync(join(tree, "a.ts"), `const two = ${JSON.stringify(EVIL)};\n`);
  writeFileSync(join(tree, `${EVIL.replaceAll("/", "")}.ts`), `// ${EVIL}\n`);
  const inTree = (...argv: string[]) => expectDone(project.pawlIn(tree, {}, ...argv));
  await inTree("verify", "--", "echo", EVIL);
  await inTree("finding", "add", `Look: ${EVIL}`, "--severity", "high", "--file", "a.ts", "--line", "1");
  await inTree("decide", `Do ${EVIL}`, "--why", EVIL);
  await inTree("handoff", "--what", EVIL, "--changed", "a.ts", "--next", EVIL);
  await inTree("note", "add", EVIL, "--text", EVIL);
  await inTree("mail", "send", "human", EVIL, "--task", "T1");
  await inTree("lane", "add", "T1", "--path", EVIL.replaceAll("\u202e", ""), "--why", EVIL);
  await inTree("snapshot");
}

async function expectDone(call: Promise<Result>): Promise<Result> {
  const result = await call;
  expect(result, result.err).toMatchObject({ code: 0 });
  return result;
}

describe("Markdown that somebody else wrote", () => {
  pure.each([
    ["<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"],
    ["[click](javascript:alert(1))", "<p>click (javascript:alert(1))</p>"],
    ["![x](http://evil.example/x.png)", "<p>!x (http://evil.example/x.png)</p>"],
    [
      "`</code><img src=x onerror=alert(1)>`",
      "<p><code>&lt;/code&gt;&lt;img src=x onerror=alert(1)&gt;</code></p>",
    ],
    ["```html\n</code></pre><b>\n```", "<pre><code>&lt;/code&gt;&lt;/pre&gt;&lt;b&gt;</code></pre>"],
    ["```\nnever closed <b>", "<pre><code>never closed &lt;b&gt;</code></pre>"],
    [
      '- [x] <a href="//evil">**b**</a>',
      "<ul><li>☑ &lt;a href=&quot;//evil&quot;&gt;<strong>b</strong>&lt;/a&gt;</li></ul>",
    ],
    ["1. one\n2. <b>", "<ol><li>one</li><li>&lt;b&gt;</li></ol>"],
    [
      "So:\n| a | b |\n|---|---|\n| <i> | 2 |\nthen",
      "<p>So:</p><pre>| a | b |\n|---|---|\n| &lt;i&gt; | 2 |</pre><p>then</p>",
    ],
    ["# <h1>", "<p><strong>&lt;h1&gt;</strong></p>"],
    [
      "**\u202e*x*\u200b**",
      '<p>**<span class="unseen">U+202E</span><em>x</em><span class="unseen">U+200B</span>**</p>',
    ],
    ["&lt;b&gt; &amp;", "<p>&amp;lt;b&amp;gt; &amp;amp;</p>"],
  ])("%j", (text, shown) => {
    expect(markdown(text).text).toBe(shown);
  });

  pure.each(["[", "[a](", "**a", "*a ", "`a", "[a] "])("%j, many thousand times, holds nobody up", (mark) => {
    const begun = performance.now();
    markdown(mark.repeat(50_000));
    expect(performance.now() - begun).toBeLessThan(3_000);
  });
});

describe("every page", () => {
  test("answers, names its command, and shows what agents wrote as text", async ({ project }) => {
    await fill(project);
    const get = visit(openHouse(project));
    const fragment = /\{file\}|stream|events/;
    const paths = ROUTES.filter(({ method, path }) => method === "GET" && !fragment.test(path)).map(
      ({ path }) =>
        path
          .replace("{task}", "T0001")
          .replace("{run}", "R1")
          .replace("{action}", path.startsWith("/new") ? "task" : "edit"),
    );
    for (const path of [...paths, `/search?q=${encodeURIComponent(EVIL)}`]) {
      const { status, body } = await get(path);
      expect(status, path).toBe(200);
      expect(String(body), path).toContain('<footer class="cmd">');
      expect(String(body), path).not.toMatch(/<script>alert|<img|\u202e/);
    }
  });

  test("of a diff has every row, and marks what was looked at until it changes", async ({ project }) => {
    await fill(project);
    const get = visit(openHouse(project));
    const page = String((await get("/t/T0001/diff")).body);
    expect(page).toContain("0 of 2 viewed");
    expect(page).toContain('<span class="unseen">U+202E</span>');
    const [, repo, digest] = /data-repo="([^"]*)" data-path="a.ts" data-digest="([^"]*)"/.exec(page) ?? [];
    const body = { repo, path: "a.ts", digest, seen: true };
    expect((await get("/t/T0001/viewed", { method: "POST", body })).status).toBe(204);
    expect(String((await get("/t/T0001/diff")).body)).toContain("1 of 2 viewed");
    await get("/t/T0001/viewed", { method: "POST", body: { ...body, digest: "0".repeat(64) } });
    expect(String((await get("/t/T0001/diff")).body)).toContain("0 of 2 viewed");
    expect(String((await get(`/t/T0001/diff/${encodeURIComponent(repo ?? "")}/0`)).body)).toContain("<table");
  });

  test("of a diff leaves white space out, and shows what changed since the last look", {
    tags: ["proof"],
  }, async ({ project }) => {
    project.commit("a.ts", "const one = 1;\nconst two = 2;\n");
    await expectDone(project.pawl("task", "new", "Tidy"));
    const started = await expectDone(project.pawl("start", "T1", "--json"));
    const tree = join(project.path, started.json.data.run.repos[0].worktree);
    const save = (path: string, text: string) => {
      writeFileSync(join(tree, path), text);
      return expectDone(project.pawlIn(tree, {}, "snapshot"));
    };
    const get = visit(openHouse(project));
    const read = async (query: string) => String((await get(`/t/T0001/diff${query}`)).body);
    await save("b.ts", "fresh\n");
    await save("a.ts", "const one  =  1;\nconst two = 2;\n");
    const calm = await read("?space=ignore");
    expect(calm).toContain("Nothing else changed in this file.");
    expect(calm).not.toContain('data-s="−"');
    expect(calm).toContain("pawl diff T0001 --ignore-space");
    const whole = await read("");
    expect(whole).not.toMatch(/files? changed since your last look/);
    const marks = [
      ...whole.matchAll(
        /data-repo="([^"]*)" data-path="([^"]*)" data-digest="([^"]*)" data-commit="([^"]*)"/g,
      ),
    ];
    for (const [, repo, path, digest, commit] of marks) {
      const body = { repo, path, digest, commit, seen: true };
      expect((await get("/t/T0001/viewed", { method: "POST", body })).status).toBe(204);
    }
    await save("a.ts", "const one  =  1;\nconst two = 3;\n");
    expect(await read("")).toContain("1 file changed since your last look");
    const since = await read("?since=look");
    const lines = [...since.matchAll(/data-s="(.)">(.*?)<\/td>/g)].map(
      ([, sign, cell = ""]) => sign + cell.replace(/<[^>]*>/g, ""),
    );
    expect(lines).toEqual([" const one  =  1;", "−const two = 2;", "+const two = 3;"]);
    expect(since).toContain('data-path="a.ts"');
    expect(since).not.toContain('data-path="b.ts"');
    await save("a.ts", "const one = 1;\nconst two = 2;\n");
    expect(await read("?since=look")).toContain("No longer part of the change:");
  });

  test("of a diff shows a finding below its line, wherever that has moved to, and above the file when it is gone", {
    tags: ["proof"],
  }, async ({ project }) => {
    project.commit("a.ts", "one\n");
    await expectDone(project.pawl("task", "new", "Move"));
    const started = await expectDone(project.pawl("start", "T1", "--json"));
    const tree = join(project.path, started.json.data.run.repos[0].worktree);
    const write = async (text: string) => {
      writeFileSync(join(tree, "a.ts"), text);
      await expectDone(project.pawlIn(tree, {}, "snapshot"));
    };
    await write("one\ntwo\nthree\n");
    execFileSync("git", ["commit", "-qam", "Two"], { cwd: tree, env: project.env });
    const add = ["finding", "add", "Odd", "--severity", "low", "--file", "a.ts", "--line", "2"];
    await expectDone(project.pawlIn(tree, {}, ...add));
    const get = visit(openHouse(project));
    const above = async () => {
      const page = String((await get("/t/T0001/diff")).body);
      const before = page.slice(0, page.indexOf('aria-label="Finding T0001/F1"'));
      return before.includes("Was at line 2")
        ? "gone"
        : />(\w+)<\/td><\/tr>(?!.*<\/td><\/tr>.)/s.exec(before)?.[1];
    };
    expect(await above()).toBe("two");
    await write("one\nnew\nnew\ntwo\nthree\n");
    expect(await above()).toBe("two");
    await write("one\nnew\nthree\n");
    expect(await above()).toBe("gone");
  });

  test("of all findings shows one status of every task, under the headings that were asked for", async ({
    project,
  }) => {
    project.commit("a.ts", "const one = 1;\n");
    const get = visit(openHouse(project));
    const read = async (query: string) => String((await get(`/findings${query}`)).body);
    expect(await read("")).toContain(
      '<code>pawl finding add "What is wrong" --task T0001</code>'.replaceAll('"', "&quot;"),
    );
    for (const [task, severity] of [
      ["T1", "low"],
      ["T2", "high"],
    ] as const) {
      await expectDone(project.pawl("task", "new", `Of ${task}`));
      await expectDone(project.pawl("start", task));
      const where = ["--file", "a.ts", "--line", "1", "--task", task];
      await expectDone(project.pawl("finding", "add", `Odd in ${task}`, "--severity", severity, ...where));
    }
    await expectDone(project.pawl("task", "update", "T2", "--status", "dropped"));
    const headings = (page: string) =>
      [...page.matchAll(/<h2 id="group-\d">(.*?) <i>/g)].map(([, one]) => one);
    expect(headings(await read(""))).toEqual(["high", "low"]);
    expect(headings(await read("?by=task"))).toEqual(["T0002", "T0001"]);
    expect(headings(await read("?by=file"))).toEqual(["my project: a.ts"]);
    for (const by of ["nothing", "toString", "__proto__"])
      expect(headings(await read(`?by=${by}`)), by).toEqual(["high", "low"]);
    await expectDone(project.pawl("finding", "defer", "F1", "--task", "T1", "--note", "Later"));
    expect(await read("")).not.toContain("Odd in T1");
    expect(await read("?status=deferred")).toContain('href="/t/T0001/findings#F1"');
    const { json } = await project.pawl("finding", "list", "--all", "--json");
    expect(json.data.findings.map((one: { id: string }) => one.id).toSorted()).toEqual([
      "T0001/F1",
      "T0002/F1",
    ]);
  });

  test("that does not exist says so, and where to look", async ({ project }) => {
    const get = visit(openHouse(project));
    await expectDone(project.pawl("task", "new", "Here"));
    const missing: Record<string, string> = {
      "/nothing": "The links above lead to every page.",
      "/t/": "The links above lead to every page.",
      "/%2e%2e/x": "The links above lead to every page.",
      "/t/T1/diff/%ff/0": "The links above lead to every page.",
      "/t/T9999": "<code>pawl task list</code>",
      "/t/T1/runs/R9": "<code>pawl run list T0001</code>",
      "/t/T1/runs/R9/stream": "<code>pawl run list T0001</code>",
      "/t/T1/do/fly": "is in the menu Actions on its page",
      "/t/T1/do/lane-edit?lane=L9": "<code>pawl lane list T1</code>",
    };
    for (const [path, hint] of Object.entries(missing)) {
      const { status, body } = await get(path);
      expect([status, String(body)], path).toEqual([404, expect.stringContaining(hint)]);
    }
    for (const path of ["/t/..%2f..%2fetc", "/t/%00"]) expect((await get(path)).status, path).toBe(400);
    for (const path of ["/t/%0d%0aX/approve/withdraw", "/t/%0d%0aX/approve/sign"])
      expect((await get(path, { method: "POST", body: {} })).status, path).toBe(400);
  });

  test("of evidence shows a check as the policy writes it, without the shell around it", async ({
    project,
  }) => {
    project.commit(".pawl/config.yaml", "checks:\n  test: echo fine\n");
    await expectDone(project.pawl("task", "new", "Check"));
    const started = await expectDone(project.pawl("start", "T1", "--json"));
    const tree = join(project.path, started.json.data.run.repos[0].worktree);
    await expectDone(project.pawlIn(tree, {}, "verify"));
    expect(String((await visit(openHouse(project))("/t/T0001/evidence")).body)).toContain(
      "<code>echo fine</code>",
    );
  });

  test("that search leads to shows the record at its place", { tags: ["proof"] }, async ({ project }) => {
    await fill(project);
    const get = visit(openHouse(project));
    const found = String((await get("/search?q=alert")).body);
    for (const [, path = "", anchor = ""] of found.matchAll(/<li><a href="([^"#]+)#([^"]+)"/g))
      expect(String((await get(path)).body), `${path}#${anchor}`).toContain(`id="${anchor}"`);
    const anchors = [...found.matchAll(/<li><a href="[^"#]+#(\w)/g)].map(([, letter]) => letter);
    expect(anchors).toEqual(expect.arrayContaining(["D", "F", "H", "N"]));
    const command = /<footer class="cmd">.*<code>(.*)<\/code>/.exec(
      String((await get("/search?q=it's+%22odd%22")).body),
    );
    expect(command?.[1]).toBe("pawl search &#39;it&#39;\\&#39;&#39;s &quot;odd&quot;&#39;");
  });

  test("that was asked for while something is decided looks again, however soon that ends", async ({
    project,
  }) => {
    project.commit("a.ts", "const one = 1;\n");
    await expectDone(project.pawl("task", "new", "Retry"));
    for (const [path, subject] of [
      ["/approvers", APPROVERS],
      ["/t/t1/approve", "T0001"],
    ] as const) {
      const plain = openHouse(project);
      let decide = () => {};
      const decided = new Promise<void>((done) => {
        decide = done;
      });
      const { underway } = plain.deciding;
      // What is decided ends right after the page has begun to read.
      const ask: House["ask"] = async (op, input) => {
        const answer = await plain.ask(op, input);
        decide();
        await expect.poll(() => underway.of(subject)?.state).toBe("done");
        return answer;
      };
      underway.begin(subject, "working", () => decided);
      const open = visit({ ...plain, ask });
      expect((await open(path)).body, path).toContain('data-poll="working"');
      expect((await open(path)).body, path).not.toContain("data-poll");
    }
  });
});
