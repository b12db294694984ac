import { readFileSync } from "node:fs";
import { rolldown } from "rolldown";
import { textFiles } from "./text-files.mjs";

/**
 * The MCP SDK uses all of zod, our commands a small part. Shared, the whole would be loaded by every command, so the
 * SDK gets a copy of its own. What would validate schemas of clients is left out: we ask clients for nothing.
 */
const sdkAlone = {
  name: "sdk-alone",
  resolveId: {
    order: "pre",
    async handler(source, importer, options) {
      if (source === "@modelcontextprotocol/server/_shims") return "sdk-shims?sdk";
      if (!importer || !/@modelcontextprotocol|\?sdk$/.test(importer)) return undefined;
      const found = await this.resolve(source, importer.replace(/\?sdk$/, ""), {
        ...options,
        skipSelf: true,
      });
      return found && /node_modules[\\/]zod[\\/]/.test(found.id)
        ? { ...found, id: `${found.id}?sdk` }
        : found;
    },
  },
  load(id) {
    if (id === "sdk-shims?sdk")
      return 'export { default as process } from "node:process"; export class DefaultJsonSchemaValidator {}';
    return id.endsWith("?sdk") ? readFileSync(id.slice(0, -"?sdk".length), "utf8") : undefined;
  },
};

/** gray-matter gets its one engine from us; those that it brings are a second YAML parser and one that runs code. */
const noEngines = {
  name: "no-engines",
  resolveId: {
    order: "pre",
    handler: (source, importer) =>
      /^\.\/(?:lib\/)?engines$/.test(source) && /node_modules[\\/]gray-matter[\\/]/.test(importer ?? "")
        ? "no-engines"
        : undefined,
  },
  load: (id) => (id === "no-engines" ? "module.exports = {};" : undefined),
};

/** The files are read as one byte per character, so what is more than ASCII is written as its escape. */
const onlyAscii = {
  name: "only-ascii",
  generateBundle(_, files) {
    const escaped = (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
    for (const one of Object.values(files))
      if (one.type === "chunk") one.code = one.code.replace(/[\u0080-\uffff]/g, escaped);
  },
};

/** For files that `src/files/code-cache.ts` loads: each is one function, as Node's own loader would make of it. */
export const asFunctions = {
  postBanner: "(function (exports, require, module, __filename, __dirname) {",
  postFooter: "})",
};

/** Bundles one entry and what it imports into a folder, as CommonJS. */
export async function bundle(input, dir, options) {
  const build = await rolldown({
    input,
    platform: "node",
    external: [/^node:/, "node-sqlite3-wasm"],
    moduleTypes: textFiles.moduleTypes,
    plugins: [onlyAscii, noEngines, sdkAlone, ...textFiles.plugins],
    // Its main file finds its parts at run time, which no bundler can follow; the other one imports them.
    resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
    // Which chunk a module lands in is decided by our own groups, not by how it is imported.
    checks: { ineffectiveDynamicImport: false },
    ...options.input,
  });
  const { output } = await build.write({ dir, format: "cjs", minify: true, ...options.output });
  await build.close();
  return output;
}
