import { join } from "node:path";
import { textIfPresent } from "../files/read.ts";
import { canReadRefs } from "./refs.ts";

/** What git records about a repository that we cannot work with; read from its file, as an old git would refuse to. */
export function unsupportedFormat(commonDir: string): string | undefined {
  const config = textIfPresent(join(commonDir, "config")) ?? "";
  const setting = (name: string) =>
    new RegExp(`^\\s*${name}\\s*=\\s*"?([\\w-]+)`, "im").exec(config)?.[1]?.toLowerCase();
  const format = setting("objectformat") ?? "sha1";
  if (format !== "sha1") return `the object format ${format}`;
  const storage = setting("refstorage") ?? (canReadRefs(commonDir) ? "files" : "reftable");
  return storage === "files" ? undefined : `the ref storage ${storage}`;
}
