import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test as pure } from "vitest";
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
    ["# <h1>", "<p><strong>&lt;h1&gt;</strong></p>"],
    [
      "**\u202e*x*\u200b**",
      '<p>**<span class="unseen">U+202E</span><em>x</em><span class="unseen">U+200B</span>**</p>',
    ],
    ["&lt;b&gt; &amp;", "<p>&amp;lt;b&amp;gt; &amp;amp;</p>"],
  ])("%j", (text, shown) => {
    expect(markdown(text).text).toBe(shown);
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

  test("of a diff leaves white space out, and shows what changed since the last look", async ({
    project,
  }) => {
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

  test("that is not there says so, wherever it is looked for", async ({ project }) => {
    const get = visit(openHouse(project));
    const missing = ["/nothing", "/t/T9999", "/t/", "/%2e%2e/x", "/t/T1/diff/%ff/0"];
    for (const path of missing) expect((await get(path)).status, path).toBe(404);
    for (const path of ["/t/..%2f..%2fetc", "/t/%00"]) expect((await get(path)).status, path).toBe(400);
  });
});
