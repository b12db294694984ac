import { existsSync } from "node:fs";
import { join } from "node:path";
import { lineIfReadable, textIfReadable } from "../files/read.ts";

/** The commit a ref names, read from git's files. A repository that keeps its refs in another form has none here. */
export function tipOf(commonDir: string, ref: string): string | undefined {
  if (existsSync(join(commonDir, "reftable"))) return undefined;
  const loose = lineIfReadable(join(commonDir, ref));
  const target = loose && /^ref: (.+)$/.exec(loose)?.[1];
  if (target) return tipOf(commonDir, target);
  return loose && /^[0-9a-f]{40,64}$/.test(loose) ? loose : packedTip(commonDir, ref);
}

function packedTip(commonDir: string, ref: string): string | undefined {
  const packed = textIfReadable(join(commonDir, "packed-refs")) ?? "";
  const at = packed.indexOf(` ${ref}\n`);
  return at < 0 ? undefined : packed.slice(packed.lastIndexOf("\n", at) + 1, at);
}

/** The branch that a symbolic ref such as `refs/remotes/origin/HEAD` stands for. */
export function targetOf(gitDir: string, ref: string): string | undefined {
  return /^ref: (.+)$/.exec(lineIfReadable(join(gitDir, ref)) ?? "")?.[1];
}
