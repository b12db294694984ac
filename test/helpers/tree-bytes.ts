import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Every file, folder and link below a folder, with its mode and its bytes; of git only what a user would miss. */
export function treeBytes(folder: string, skip: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (below: string) => {
    for (const name of readdirSync(join(folder, below)).sort()) {
      const path = below === "" ? name : `${below}/${name}`;
      if (name === ".git" || skip.includes(path)) continue;
      const stat = lstatSync(join(folder, path));
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) found[path] = `link to ${readlinkSync(join(folder, path))}`;
      else if (stat.isDirectory()) {
        found[`${path}/`] = mode;
        walk(path);
      } else found[path] = `${mode} ${readFileSync(join(folder, path), "latin1")}`;
    }
  };
  walk("");
  return found;
}

/** Git's configuration and its `info` folder, byte for byte. */
export function gitBytes(gitDir: string): Record<string, string> {
  const info = join(gitDir, "info");
  const names = existsSync(info) ? readdirSync(info).map((name) => `info/${name}`) : [];
  const files = ["config", ...names].filter((name) => existsSync(join(gitDir, name)));
  return {
    ...Object.fromEntries(files.map((name) => [name, readFileSync(join(gitDir, name), "latin1")])),
    "info/": String(existsSync(info)),
    "pawl/": String(existsSync(join(gitDir, "pawl"))),
  };
}

/** When each file was last changed; nothing that only looks may move it. */
export function changeTimes(
  folder: string,
  skip: (path: string) => boolean = () => false,
): Record<string, number> {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => !skip(path));
  return Object.fromEntries(all.map((path) => [path, lstatSync(join(folder, path)).mtimeMs]));
}
