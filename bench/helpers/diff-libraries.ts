import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { rolldown } from "rolldown";

/**
 * Two libraries that draw a patch in a browser, to hold our own renderer against. They are installed into a cache, without
 * their install scripts, and bundled as a page would have them.
 */
const PACKAGES = ["diff2html@3.4.56", "react-diff-view@3.3.3", "react@19.3.1", "react-dom@19.3.1"];
const cache = join(process.cwd(), "node_modules", ".cache", "pawl-diff-libraries");

/** Each sets `finished` when everything that it draws has been drawn. */
const DRAWN = "requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.finished = true; }));";
const ENTRIES: Readonly<Record<string, string>> = {
  diff2html: `import { parse, html } from "diff2html";
const patch = await (await fetch("/patch")).text();
document.getElementById("app").innerHTML = html(parse(patch), { drawFileList: false, matching: "lines", outputFormat: "line-by-line" });
${DRAWN}`,
  "react-diff-view": `import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { Diff, Hunk, markEdits, parseDiff, tokenize } from "react-diff-view";
const files = parseDiff(await (await fetch("/patch")).text());
const draw = (file, at) => createElement("section", { key: at }, createElement("h3", null, file.newPath),
  createElement(Diff, { viewType: "unified", diffType: file.type, hunks: file.hunks, tokens: tokenize(file.hunks, { enhancers: [markEdits(file.hunks, { type: "block" })] }) },
    (hunks) => hunks.map((hunk) => createElement(Hunk, { key: hunk.content, hunk }))));
createRoot(document.getElementById("app")).render(files.map(draw));
const wait = () => { if (document.querySelectorAll("section").length < files.length) setTimeout(wait, 20); else ${DRAWN} };
wait();`,
};
const STYLES: Readonly<Record<string, string>> = {
  diff2html: "diff2html/bundles/css/diff2html.min.css",
  "react-diff-view": "react-diff-view/style/index.css",
};

export interface Libraries {
  names: string[];
  addressOf(name: string): string;
  close(): void;
}

/** Serves a page of each library for this patch; undefined where they cannot be fetched. */
export async function serveLibraries(patch: string): Promise<Libraries | undefined> {
  if (!install()) return undefined;
  const scripts = new Map<string, string>();
  for (const name of Object.keys(ENTRIES)) scripts.set(name, await bundle(name));
  const page = (name: string) =>
    `<!doctype html><meta charset="utf-8"><title>${name}</title><link rel="stylesheet" href="/${name}.css"><div id="app">loading</div><script type="module" src="/${name}.js"></script>`;
  const server = createServer((request, response) => {
    const [, name = "", ending] = /^\/([\w-]+)(\.\w+)?$/.exec(request.url ?? "") ?? [];
    const [type, body] =
      name === "patch"
        ? ["text/plain", patch]
        : ending === ".js"
          ? ["text/javascript", scripts.get(name) ?? ""]
          : ending === ".css"
            ? ["text/css", readFileSync(join(cache, "node_modules", STYLES[name] ?? ""), "utf8")]
            : ["text/html", page(name)];
    response.writeHead(200, { "Content-Type": `${type}; charset=utf-8` }).end(body);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    names: Object.keys(ENTRIES),
    addressOf: (name) => `http://127.0.0.1:${port}/${name}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function install(): boolean {
  if (existsSync(join(cache, "node_modules", "react-diff-view"))) return true;
  process.stderr.write(`installing ${PACKAGES.join(", ")} into the cache …\n`);
  mkdirSync(cache, { recursive: true });
  const options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  const done = spawnSync("npm", ["install", "--prefix", cache, ...options, ...PACKAGES], { stdio: "ignore" });
  if (done.status !== 0) process.stderr.write("NOT RUN: the libraries could not be fetched\n");
  return done.status === 0;
}

async function bundle(name: string): Promise<string> {
  const entry = join(cache, `${name}.mjs`);
  writeFileSync(entry, ENTRIES[name] ?? "");
  const built = await rolldown({
    input: entry,
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
  });
  const { output } = await built.generate({ format: "esm", minify: true });
  await built.close();
  return output[0].code;
}
