// Other tools that the guard has to get along with. Those of the package registry come without their install scripts,
// which would put hooks into this very project; with --system also those of the system, where that can be done.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildNewerGit } from "./build-newer-git.mjs";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";

/** Programs with the Debian packages that have them; the last one is ssh's own test authenticator, a security key without hardware. */
const SYSTEM = {
  busybox: "busybox",
  chromium: "chromium",
  "pre-commit": "pre-commit",
  "ssh-keygen": "openssh-client",
  "/usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so": "openssh-tests",
};

export const installTestTools = () => installIfNeeded(join(root, "test/guard/tools"), ["--ignore-scripts"]);

const isThere = (program) =>
  program.startsWith("/")
    ? existsSync(program)
    : (process.env.PATH ?? "").split(":").some((dir) => existsSync(join(dir, program)));

/** What cannot be installed is told; the tests then name what they did not run, or fail where CI=true says that all must be run. */
function installSystemTools() {
  const missing = Object.keys(SYSTEM).filter((program) => !isThere(program));
  install(missing.map((program) => SYSTEM[program]));
  for (const program of missing.filter((one) => !isThere(one)))
    process.stderr.write(`NOT RUN: ${program} is not on this machine, and could not be installed.\n`);
}

function install(packages) {
  if (packages.length === 0 || !isThere("apt-get") || process.getuid?.() !== 0) return;
  const apt = (...args) => step("other tools of the system", "apt-get", args);
  const get = () => apt("install", "-y", "--no-install-recommends", ...packages);
  if (!get()) apt("update") && get();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  if (process.argv.includes("--system")) {
    installSystemTools();
    buildNewerGit(isThere, install);
  }
  process.exitCode = installTestTools() ? 0 : 1;
}
