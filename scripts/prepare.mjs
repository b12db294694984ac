// Run by npm after it has installed what this repository needs. A clone gets its own hooks; where there is no program
// yet, it is built: npm installs `git+ssh://…#v0.1.0` from a clone of its own, and packs that without another word.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { root, step } from "./install-if-needed.mjs";

// Hooks are a convenience: a folder without git, or without husky, is prepared all the same.
spawnSync("npx", ["--no-install", "husky"], {
  cwd: root,
  stdio: ["ignore", 2, 2],
  shell: process.platform === "win32",
});
if (!existsSync(`${root}/dist/pawl.cjs`) && !step("build", process.execPath, ["scripts/build.mjs"]))
  process.exit(1);
