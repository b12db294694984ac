import { join, relative } from "node:path";
import { replaceQuickly } from "../files/durable.ts";
import { textIfPresent } from "../files/read.ts";
import { type Stamps, stampsFile } from "../git/guard-files.ts";
import type { Facts } from "./facts.ts";
import type { ActivationPlan } from "./plan.ts";
import { stampOf } from "./quick-look.ts";

/** Remembers how everything was left, once it is in place, so that later looks can be quick ones. */
export function writeStamps({ commonDir, inputs, settings }: Facts, { files }: ActivationPlan): void {
  const path = stampsFile(commonDir);
  const stamp = (paths: readonly string[]) =>
    Object.fromEntries(paths.map((one) => [relative(commonDir, one), stampOf(one)]));
  const stamps: Stamps = {
    at: commonDir,
    config: stamp([
      join(commonDir, "config"),
      ...(settings.own.perWorktree
        ? ["config.worktree", "worktrees"].map((name) => join(commonDir, name))
        : []),
    ]),
    per_worktree: settings.own.perWorktree,
    hooks: stamp(files.map((one) => one.path)),
    inputs: stamp(inputs),
  };
  const text = `${JSON.stringify(stamps, null, 1)}\n`;
  if (textIfPresent(path) !== text) replaceQuickly(path, text);
}
