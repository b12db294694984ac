import { readFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf, sha256 } from "../../files/digest.ts";
import { Failure } from "../../model/failure.ts";
import { PACKAGE } from "../../model/version.ts";
import { type ArchiveFile, packArchive } from "./archive.ts";
import { type Manifest, readManifest, sourceOf } from "./runtime-copy.ts";

/** The program that runs, as the package that a ledger can name and a project can carry along. */
export interface OwnPackage {
  digest: string;
  /** All of it, with nothing left to fetch: the same bytes wherever the same program packs itself. */
  archive(): Buffer;
}

/** Undefined for what was not built, such as the sources. */
export function ownPackage(folder: string | undefined): OwnPackage | undefined {
  const manifest = folder === undefined ? undefined : readManifest(folder);
  if (folder === undefined || !manifest) return undefined;
  let packed: Buffer | undefined;
  return {
    digest: packageDigest(manifest),
    archive: () => {
      packed ??= packArchive([descriptor(manifest), list(manifest), ...programFiles(folder, manifest)]);
      return packed;
    },
  };
}

/** What a package is: every file that can run, by its own digest. `.pawl/get.cjs` counts in the same way. */
export function packageDigest({ version, files }: Manifest): string {
  const lines = Object.keys(files)
    .sort()
    .map((name) => `${files[name]}  ${name}\n`);
  return sha256(`pawl ${version}\n${lines.join("")}`);
}

/** Without dependencies: the one package that pawl needs lies inside. */
function descriptor({ version }: Manifest): ArchiveFile {
  const { name, license, bin, engines } = PACKAGE;
  const text = `${JSON.stringify({ name, version, license, bin, engines }, null, 2)}\n`;
  return { name: "package/package.json", bytes: Buffer.from(text), executable: false };
}

const list = (manifest: Manifest): ArchiveFile => ({
  name: "package/dist/runtime.json",
  bytes: Buffer.from(`${JSON.stringify(manifest)}\n`),
  executable: false,
});

function programFiles(folder: string, { files }: Manifest): ArchiveFile[] {
  return Object.keys(files)
    .sort()
    .map((name) => {
      const bytes = readFileSync(sourceOf(folder, name));
      if (digestOf(bytes) !== files[name])
        throw new Failure(
          "unreadable",
          "package_damaged",
          `${join(folder, name)} is not the file that came with pawl.`,
          {
            hint: "Nothing was written. Reinstall pawl from its package, then run this again.",
            details: { file: join(folder, name) },
          },
        );
      return { name: `package/dist/${name}`, bytes, executable: name === "pawl.cjs" };
    });
}
