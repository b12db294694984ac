import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { sha256 } from "../files/digest.ts";
import { textIfPresent } from "../files/read.ts";
import { readConfig } from "../git/config-file.ts";
import { hooksDir, isGuarded } from "../git/guard-files.ts";
import { Git } from "../git/run-git.ts";
import { listWorktrees } from "../git/worktrees/entries.ts";
import type { Environment } from "../model/environment.ts";
import type { Trace } from "../ports/audit-facts.ts";
import type { Site } from "../ports/sites.ts";
import { type Before, readBefore } from "./before.ts";
import { canRun, isOurs } from "./place.ts";
import { settingIn } from "./probe.ts";

/**
 * What an audit has to know of the guard: whether the hooks that were put in place are still there, can be run, and are
 * the ones that git uses. `guarded` says whether the records have this clone as a guarded one.
 */
export function guardTraces(site: Site, env: Environment, guarded: boolean): Trace[] {
  const { commonDir } = site;
  if (!isGuarded(commonDir))
    return guarded ? [{ code: "guard_removed", where: hooksDir(commonDir), said: "" }] : [];
  return [...hookFiles(commonDir), ...overrides(site, env)];
}

function hookFiles(commonDir: string): Trace[] {
  // What cannot be read, or was written by another version, is taken for as much as it says.
  const { written = [], digests }: Partial<Before> = readBefore(commonDir) ?? {};
  const listed = digests ? Object.keys(digests) : written.filter(isHook);
  // Without this one there is no guard, whatever the list says.
  const hooks = new Set(["pawl/hooks/reference-transaction", ...listed]);
  return [...hooks].sort().flatMap((name): Trace[] => {
    const path = isAbsolute(name) ? name : join(commonDir, name);
    const text = textIfPresent(path);
    if (text === undefined) return [{ code: "hook_missing", where: name, said: "" }];
    const digest = digests?.[name];
    if ((digest !== undefined || isHook(name)) && !canRun(path))
      return [{ code: "hook_not_executable", where: name, said: "" }];
    const changed = digest === undefined ? isHook(name) && !isOurs(text) : sha256(text) !== digest;
    return changed ? [{ code: "hook_changed", where: name, said: "" }] : [];
  });
}

/** In a folder for hooks, and not one of the settings that the guard keeps beside them. */
const isHook = (name: string) => /(?:^|\/)(?:hooks|_)\/[^/.]+$/.test(name.replaceAll("\\", "/"));

/** What each worktree makes of the setting, and whether this very environment changes it. */
function overrides({ commonDir, mainRoot }: Site, env: Environment): Trace[] {
  const wanted = hooksDir(commonDir).replaceAll("\\", "/");
  const places = listWorktrees(commonDir, mainRoot).filter((one) => existsSync(one.path));
  const found: Trace[] = [];
  for (const { path, gitDir } of places) {
    const said = settingIn(path, Git.in("user", env, path));
    if (!said) continue;
    const { scope, origin, value } = said;
    const by = scope === "command" ? "the environment" : origin.replace(/^file:/, "") || "nothing";
    if (value !== wanted)
      found.push({ code: "hooks_path_changed", where: path, said: `"${value}", set by ${by}` });
    else if (hasOtherSetting(join(commonDir, gitDir), wanted))
      found.push({ code: "hooks_path_changed", where: path, said: "its config.worktree names others" });
  }
  return found;
}

/** Also one that git does not look at yet: a single setting would bring it into force. */
const hasOtherSetting = (gitDir: string, wanted: string) =>
  readConfig(textIfPresent(join(gitDir, "config.worktree")) ?? "").some(
    ({ section, key, value }) => section === "core" && key === "hookspath" && value !== wanted,
  );
