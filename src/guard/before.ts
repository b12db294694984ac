import { replaceFile } from "../files/durable.ts";
import { textIfPresent } from "../files/read.ts";
import { beforeFile } from "../git/guard-files.ts";
import type { HookRemote, Programs } from "./render-hooks.ts";

/** What was found when the guard was first activated, and every file that it has written since. */
export interface Before {
  /** What `core.hooksPath` was to others when it was last looked at, and the line of theirs that ours stands in for. */
  hooksPath: string | null;
  line?: string | null;
  /** We switched `extensions.worktreeConfig` on. */
  extension?: boolean;
  /** How many line ends we added to the config's last line; 0.1.0 said only that it was broken, and added one. */
  addedEnds?: number;
  brokenLine?: boolean;
  /** Git's own folder for hooks was not there. */
  noHooksDir: boolean;
  /** The protected branches: whatever they contain was there before us. */
  baseline: Record<string, string>;
  /** The branch that the policy was read from; null while there was none. */
  policyFrom?: string | null;
  /** What `pre-push` starts. */
  programs: Programs;
  /** The remotes that hooks let in; an older pawl had no such list. */
  remotes?: readonly HookRemote[];
  /** Hooks that another tool had put into our folder, by name, with the sha256 of what was moved to its own place. */
  givenBack: Record<string, string>;
  /** Relative to the common git directory, or absolute where another tool's folder is. */
  written: string[];
  /** The sha256 of every hook that is in place, by the same paths. */
  digests: Record<string, string>;
}

export function readBefore(commonDir: string): Before | undefined {
  const text = textIfPresent(beforeFile(commonDir));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Before;
  } catch {
    return undefined;
  }
}

export const addedEnds = ({ addedEnds: ends, brokenLine = false }: Before) => ends ?? Number(brokenLine);

export function writeBefore(commonDir: string, before: Before): void {
  const text = `${JSON.stringify(before, null, 2)}\n`;
  if (textIfPresent(beforeFile(commonDir)) !== text) replaceFile(beforeFile(commonDir), text);
}
