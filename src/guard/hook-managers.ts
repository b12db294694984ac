import { existsSync } from "node:fs";
import { join } from "node:path";
import { isFile, jsonIfReadable } from "../files/read.ts";

/**
 * Programs that put hooks into repositories, as far as each of them writes where git looks for hooks, or minds what is
 * written there. All of them do it again with every `npm install`.
 */
export interface HookManager {
  name: string;
  /** It sets `core.hooksPath`, whatever that was. */
  setsPath: boolean;
}

interface Signs extends HookManager {
  package: string;
  files: string[];
}

const variants = (name: string, ends: string[]) =>
  ends.flatMap((end) => [`${name}.${end}`, `.${name}.${end}`]);

const KNOWN: Signs[] = [
  { name: "husky", package: "husky", files: [".husky"], setsPath: true },
  // Refuses to install where the plain setting has a value.
  {
    name: "lefthook",
    package: "lefthook",
    files: variants("lefthook", ["yml", "yaml", "json", "jsonc", "toml"]),
    setsPath: false,
  },
  // Deletes every hook that it does not know from wherever the plain setting points.
  {
    name: "simple-git-hooks",
    package: "simple-git-hooks",
    files: variants("simple-git-hooks", ["cjs", "js", "mjs", "json"]),
    setsPath: false,
  },
];

/** Those that this project uses, by what lies at its root. */
export function findHookManagers(root: string): HookManager[] {
  const named = packagesOf(join(root, "package.json"));
  return KNOWN.filter(
    (one) => named.has(one.package) || one.files.some((file) => existsSync(join(root, file))),
  );
}

/** Names of dependencies, and of settings: some tools are configured by a key of their own name. */
function packagesOf(path: string): Set<string> {
  // Whatever else the project has there names nothing, and is no reason to fail.
  const read = isFile(path) ? jsonIfReadable<unknown>(path) : undefined;
  const manifest = typeof read === "object" && read !== null ? (read as Record<string, unknown>) : {};
  const dependencies = ["dependencies", "devDependencies", "optionalDependencies"].flatMap((key) =>
    Object.keys(manifest[key] ?? {}),
  );
  return new Set([...dependencies, ...Object.keys(manifest)]);
}
