// Packs what is published: the program and what belongs to it, without anything that only development needs.
// `npm run pack` writes pawl-<version>.tgz here; `node scripts/pack.mjs FOLDER …` writes it there, and hands the rest to npm.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";

const [destination = root, ...more] = process.argv.slice(2);
const PUBLISHED = ["dist", "hooks/ci", "hooks/server", "README.md", "LICENSE"];

if (!installIfNeeded() || !step("build", process.execPath, ["scripts/build.mjs"])) process.exit(1);
const staged = mkdtempSync(join(tmpdir(), "pawl-package-"));
try {
  for (const name of PUBLISHED)
    cpSync(join(root, name), join(staged, name), {
      recursive: true,
      filter: (path) => !path.endsWith(".cache"),
    });
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const key of ["private", "scripts", "devDependencies"]) delete manifest[key];
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const args = ["pack", "--pack-destination", destination, ...more];
  // Whoever names a folder is a script, which reads what npm says; a person is told what comes next.
  const forPerson = destination === root;
  if (forPerson) args.push("--silent");
  execFileSync("npm", args, { cwd: staged, stdio: ["ignore", forPerson ? "ignore" : "inherit", "inherit"] });
  const file = `./${manifest.name}-${manifest.version}.tgz`;
  if (forPerson) process.stdout.write(`made ${file}\nnext: npm install -g ${file}\n`);
} finally {
  rmSync(staged, { recursive: true, force: true });
}
