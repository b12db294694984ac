import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundle } from "./bundle.mjs";

/** Renders the plugin form into dist/plugin. The renderer is TypeScript with templates, so it is bundled to be run. */
export async function writePlugin(root, dist) {
  const work = mkdtempSync(join(tmpdir(), "pawl-plugin-"));
  try {
    const input = { render: join(root, "src/installer/plugin/render.ts") };
    await bundle(input, work, { output: { entryFileNames: "[name].cjs" } });
    const { renderPlugin } = createRequire(import.meta.url)(join(work, "render.cjs"));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    for (const { path, text } of renderPlugin(version)) {
      const file = join(dist, "plugin", path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const icon = join(root, "src/installer/plugin/icon.png");
    copyFileSync(icon, join(dist, "plugin/plugins/pawl/.claude-plugin/icon.png"));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
