import manifest from "../../package.json" with { type: "json" };

/** What the package says; it says it nowhere else. */
export const VERSION = manifest.version;

/** Positive when the first is the newer one; what follows a dash counts as older than the same without. */
export function compareVersions(one: string, other: string): number {
  const parts = (version: string) => version.split("-")[0]?.split(".").map(Number) ?? [];
  const [a, b] = [parts(one), parts(other)];
  for (let at = 0; at < Math.max(a.length, b.length); at++)
    if ((a[at] ?? 0) !== (b[at] ?? 0)) return (a[at] ?? 0) - (b[at] ?? 0);
  return Number(other.includes("-")) - Number(one.includes("-"));
}

/** How a person gets a program of this version: from a file, because a registry's package of that name is somebody else's. */
export const howToGet = (version: string) => `npx --yes file:/path/to/pawl-${version}.tgz install`;
