import { isAbsolute, join, resolve } from "node:path";
import { sha256 } from "../files/digest.ts";
import { textIfPresent } from "../files/read.ts";
import { REPAIR, unguarded } from "../model/guard-policy.ts";
import { readBefore } from "./before.ts";
import { sections } from "./config-sections.ts";
import { canRun } from "./place.ts";
import type { Suspicions } from "./quick-look.ts";
import { readTripped } from "./tips.ts";

/** What a quick look suspected, looked at: only what is really wrong is told. Without suspicions the guard is gone. */
export function lookCloser(commonDir: string, suspicions: Suspicions | undefined): string[] {
  if (suspicions === undefined)
    return [unguarded("It was put in place, and is gone, although nobody ran pawl uninstall.", REPAIR)];
  const { override, config, files, tripped } = suspicions;
  const spoilt = files.filter((path) => isSpoilt(commonDir, path));
  return [
    ...(override === undefined ? [] : [unguarded(`${override} makes git use other hooks, or none.`)]),
    ...(config && !isInConfig(commonDir)
      ? [unguarded("Git does not use its hooks: they are not in its config any more.", REPAIR)]
      : []),
    ...(spoilt.length === 0 ? [] : [unguarded(`${spoilt.join(", ")} is not as it was written.`, REPAIR)]),
    ...(tripped.length === 0 ? [] : readTripped(commonDir).map(({ ref }) => moved(ref))),
  ];
}

const moved = (ref: string) =>
  `${ref.replace(/^refs\/heads\//, "")} is protected, and moved while the guard was switched off. Look at what came in: pawl audit`;

function isSpoilt(commonDir: string, path: string): boolean {
  const full = isAbsolute(path) ? path : join(commonDir, path);
  const known = readBefore(commonDir)?.digests[path];
  const text = textIfPresent(full);
  // What cannot be run is a setting; of those only their being there is known.
  if (known === undefined) return text === undefined && path !== "pawl/stamps";
  return text === undefined || !canRun(full) || sha256(text) !== known;
}

/** Whatever comes after our sections wins over them, be it in a file that is included there. */
function isInConfig(commonDir: string): boolean {
  const text = textIfPresent(join(commonDir, "config")) ?? "";
  const at = text.lastIndexOf(sections(commonDir));
  if (at < 0) return false;
  const after = text.slice(at + sections(commonDir).length);
  const included = [...after.matchAll(/^\s*path\s*=\s*"?([^"\n]*)/gim)].map(
    (match) => match[1]?.trim() ?? "",
  );
  const texts = [after, ...included.map((path) => textIfPresent(resolve(commonDir, path)) ?? "")];
  return !texts.some((one) => /^\s*hookspath\b/im.test(one));
}
