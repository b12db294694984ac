import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = "node_modules/node-sqlite3-wasm";

/** What a clone's own copy of the program consists of, with digests: `pawl install` copies exactly these files. */
export function listRuntime(root, dist) {
  const files = [
    ...below(dist).map((name) => [name, digest(join(dist, name))]),
    ...["package.json", ...below(join(root, PACKAGE, "dist")).map((name) => `dist/${name}`)].map((name) => [
      `${PACKAGE}/${name}`,
      digest(join(root, PACKAGE, name)),
    ]),
  ];
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const list = { version, files: Object.fromEntries(files) };
  writeFileSync(join(dist, "runtime.json"), JSON.stringify(list));
}

const digest = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

function below(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}
