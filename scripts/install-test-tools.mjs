// Other tools that the guard has to get along with. Those of the package registry come without their install scripts,
// which would put hooks into this very project; with --system also those of the system, where that can be done.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";

/** Programs with the Debian packages that have them. */
const SYSTEM = { busybox: "busybox", "pre-commit": "pre-commit" };

export const installTestTools = () => installIfNeeded(join(root, "test/guard/tools"), ["--ignore-scripts"]);

const isThere = (program) =>
  (process.env.PATH ?? "").split(":").some((dir) => existsSync(join(dir, program)));

/** What cannot be installed is told; the tests then name what they did not run. */
function installSystemTools() {
  const missing = Object.keys(SYSTEM).filter((program) => !isThere(program));
  if (missing.length === 0) return;
  if (isThere("apt-get") && process.getuid?.() === 0) {
    const packages = missing.map((program) => SYSTEM[program]);
    const apt = (...args) => step("other tools of the system", "apt-get", args);
    const install = () => apt("install", "-y", "--no-install-recommends", ...packages);
    if (!install()) apt("update") && install();
  }
  for (const program of missing.filter((one) => !isThere(one)))
    process.stderr.write(`NOT RUN: ${program} is not on this machine, and could not be installed.\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  if (process.argv.includes("--system")) installSystemTools();
  process.exitCode = installTestTools() ? 0 : 1;
}
