import { join } from "node:path";
import { textIfPresent } from "../files/read.ts";
import { configValue } from "./config-file.ts";
import { hasTables } from "./refs.ts";

/** How git names objects here, and keeps refs; read from its file, as an old git would refuse to. */
export function formatOf(commonDir: string): { objects: string; refs: string } {
  const config = textIfPresent(join(commonDir, "config")) ?? "";
  const setting = (name: string) => configValue(config, "extensions", name)?.toLowerCase();
  return {
    objects: setting("objectformat") ?? "sha1",
    refs: setting("refstorage") ?? (hasTables(commonDir) ? "reftable" : "files"),
  };
}

/** What git records about a repository that we cannot work with. */
export function unsupportedFormat(commonDir: string): string | undefined {
  const { objects, refs } = formatOf(commonDir);
  if (objects !== "sha1" && objects !== "sha256") return `the object format ${objects}`;
  return refs === "files" || refs === "reftable" ? undefined : `the ref storage ${refs}`;
}
