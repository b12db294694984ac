import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Below node_modules, where the one package of the program is found. */
const cache = join(root, "node_modules", ".cache", "pawl-test");
const SOURCES = ["adapters", "hooks", "scripts", "skills", "src", "test/agents", "test/helpers"];
const DAY_MS = 86_400_000;

/** A folder for what is built from the sources as they are now, and whether somebody has built it already. */
export interface BuildPlace {
  folder: string;
  isThere: boolean;
  /** An empty folder to build into. */
  begin(): string;
  /** Puts what was built there into its place, unless another process was faster. */
  put(made: string): void;
}

let digest: string | undefined;

/** Dozens of test files need the same few programs: each is built once for every state of the sources. */
export function buildPlace(name: string): BuildPlace {
  digest ??= digestOf([...SOURCES.flatMap(filesBelow), "package.json", "package-lock.json"]);
  const builds = join(cache, digest);
  const folder = join(builds, name);
  mkdirSync(builds, { recursive: true });
  utimesSync(builds, new Date(), new Date());
  return {
    folder,
    isThere: existsSync(folder),
    begin() {
      forgetOld();
      return mkdtempSync(join(builds, "unfinished-"));
    },
    put(made) {
      try {
        renameSync(made, folder);
      } catch (error) {
        if (!existsSync(folder)) throw error;
        rmSync(made, { recursive: true });
      }
    },
  };
}

const filesBelow = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(join(root, path)).isFile())
    .sort();

function digestOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    const bytes = readFileSync(join(root, path));
    hash.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}

/** What was built from other sources, and is used by no test that runs now. */
function forgetOld(): void {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    const isOld = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > DAY_MS;
    if (isOld) rmSync(folder, { recursive: true, force: true });
  }
}
