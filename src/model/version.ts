import manifest from "../../package.json" with { type: "json" };

/** What the package says; it says it nowhere else. */
export const VERSION = manifest.version;

const { name, license, bin, engines } = manifest;
/** What a package of this program has to say about itself. */
export const PACKAGE = { name, license, bin, engines };

/** Positive when the first is the newer one; what follows a dash counts as older than the same without. */
export function compareVersions(one: string, other: string): number {
  const parts = (version: string) => version.split("-")[0]?.split(".").map(Number) ?? [];
  const [a, b] = [parts(one), parts(other)];
  for (let at = 0; at < Math.max(a.length, b.length); at++)
    if ((a[at] ?? 0) !== (b[at] ?? 0)) return (a[at] ?? 0) - (b[at] ?? 0);
  return Number(other.includes("-")) - Number(one.includes("-"));
}

/** Gets exactly the package that the ledger beside it names, whoever else has one of that name and version. */
export const HOW_TO_GET = "node .pawl/get.cjs";
