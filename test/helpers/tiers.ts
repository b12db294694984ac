import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Which tests each command runs. A test carries the tag of its tier, or its file does by "@module-tag"; without a tag it is
 * part of `npm test`, and of `npm run check` where it lies in one of the quick folders.
 */
export type Tier = "check" | "test" | "proofs" | "long";

/** Folders whose tests start few processes. */
const QUICK = [
  "boundaries.test.ts",
  ...["model/", "judge/", "flows/", "files/", "git/", "cli/", "agent-hooks/", "runtime/"],
  ...["installer/edit/", "installer/render/"],
];

export const TAGS = [
  { name: "proof", description: "npm run proofs: not needed for every change" },
  { name: "long", description: "npm run long: by chance, or for hours" },
  { name: "again", description: "npm run long runs it again, with more values, rounds or processes" },
];

const EVERY_CHANGE = "!proof && !long";

/** A file is left out when its text tells that vitest would load it to find all its tests in another tier. */
const TIERS: Record<Tier, { tags: string; isNeeded(file: string): boolean }> = {
  check: {
    tags: EVERY_CHANGE,
    isNeeded: (file) => QUICK.some((one) => file.startsWith(one)) && !hasModuleTag(file),
  },
  test: { tags: EVERY_CHANGE, isNeeded: (file) => !hasModuleTag(file) },
  proofs: { tags: "proof && !long", isNeeded: (file) => mentions(file, /"proof"|@module-tag proof/) },
  long: {
    tags: "long || again",
    isNeeded: (file) => mentions(file, /"(?:long|again)"|@module-tag (?:long|again)/),
  },
};

const folder = fileURLToPath(new URL("..", import.meta.url));
const textOf = (file: string) => readFileSync(join(folder, file), "utf8");
const hasModuleTag = (file: string) => /@module-tag (?:proof|long)\b/.test(textOf(file));

/** By itself, or by what it imports from beside it: some helpers tag the tests that they make. */
function mentions(file: string, tag: RegExp, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false;
  seen.add(file);
  const text = textOf(file);
  const imported = [...text.matchAll(/from "(\.\.?\/[^"]+\.ts)"/g)].map((found) =>
    join(file, "..", found[1] ?? ""),
  );
  return tag.test(text) || imported.some((one) => !one.startsWith("..") && mentions(one, tag, seen));
}

export function filesOf(tier: Tier): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts") && TIERS[tier].isNeeded(file))
    .map((file) => join("test", file));
}

export const tagsOf = (tier: Tier): string => TIERS[tier].tags;
