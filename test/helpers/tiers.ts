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
const TIERS: Record<Tier, { tags: string; isNeeded(file: string, text: string): boolean }> = {
  check: {
    tags: EVERY_CHANGE,
    isNeeded: (file, text) => QUICK.some((one) => file.startsWith(one)) && !moduleTag.test(text),
  },
  test: { tags: EVERY_CHANGE, isNeeded: (_file, text) => !moduleTag.test(text) },
  proofs: { tags: "proof && !long", isNeeded: (_file, text) => /["' ]proof\b/.test(text) },
  long: { tags: "long || again", isNeeded: (_file, text) => /["' ](?:long|again)\b/.test(text) },
};
const moduleTag = /@module-tag (?:proof|long)\b/;

const folder = fileURLToPath(new URL("..", import.meta.url));

export function filesOf(tier: Tier): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .filter((file) => TIERS[tier].isNeeded(file, readFileSync(join(folder, file), "utf8")))
    .map((file) => join("test", file));
}

export const tagsOf = (tier: Tier): string => TIERS[tier].tags;
