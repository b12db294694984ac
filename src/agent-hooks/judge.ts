import { resolve } from "node:path";
import { type HookCall, patchedFiles } from "./call.ts";
import type { Facts } from "./facts.ts";
import { readGit, switchedTo } from "./git-line.ts";
import type { Refusal } from "./refusal.ts";
import { findApproval, MOVES } from "./rules/approvals.ts";
import { findBranchWrite } from "./rules/branches.ts";
import { findBypass } from "./rules/bypasses.ts";
import { findFileWrite, heldByAnother, judgeToolWrite } from "./rules/files.ts";
import { findRecordWrite } from "./rules/records.ts";
import { programOf, type Script, type ShellCommand } from "./shell/command.ts";

/** Words without which no rule about a command line can speak. */
export const CONCERNS = /git|pawl|approve|unlock|uninstall|home set|repo remove|husky|apply_patch/i;

/** Longer lines are data with a command around it, and parsing them would keep the agent waiting. */
export const LONGEST = 200_000;

/** Everything that stands against writing these files. */
export function judgeWrites(call: HookCall, facts: Facts): Refusal[] {
  return writesRefused(call.writes, call.folder, facts);
}

function writesRefused(paths: readonly string[], folder: string, facts: Facts): Refusal[] {
  return paths
    .map((path) => judgeToolWrite(resolve(folder, path), folder, facts))
    .filter((refusal) => refusal !== undefined);
}

/** Approvals first and whatever the text, then what git would refuse anyway. */
export function judgeScript(text: string, folder: string, script: Script, facts: Facts): Refusal[] {
  const approval = findApproval(text, script);
  if (approval) return [approval];
  const later = followSwitches(facts);
  return script.commands.flatMap((command) => {
    const refusals = judgeCommand(command, folder, later.facts);
    later.see(command, folder);
    return refusals;
  });
}

/** What a line checks out is what its later commands act on. */
function followSwitches(facts: Facts): { facts: Facts; see(command: ShellCommand, folder: string): void } {
  const now = new Map<string, string>();
  const spotOf = (folder: string) => {
    const spot = facts.spotOf(folder);
    const branch = spot && now.get(spot.gitDir);
    return spot && branch !== undefined ? { ...spot, branch, unborn: false } : spot;
  };
  return {
    facts: { ...facts, spotOf },
    see(command, folder) {
      const git = readGit(command);
      const branch = git && switchedTo(git);
      const spot = branch === undefined ? undefined : facts.spotOf(git?.folder ?? folder);
      if (spot && branch !== undefined) now.set(spot.gitDir, branch);
    },
  };
}

/** Where reading the line failed altogether: closed for approvals, open for the rest, which git guards. */
export function judgeUnread(text: string): Refusal[] {
  return [findApproval(text, { commands: [], understood: false })].filter((one) => one !== undefined);
}

function judgeCommand(command: ShellCommand, folder: string, facts: Facts): Refusal[] {
  // Codex changes files by a patch that its shell is given.
  if (programOf(command) === "apply_patch") {
    const text = [...command.words.map((word) => word.text), command.input ?? ""].join("\n");
    return writesRefused(patchedFiles(text), command.folder ?? folder, facts);
  }
  const git = readGit(command);
  const records = git && findRecordWrite(git, folder, facts);
  if (records) return [records];
  // A place that cannot be told is taken for the agent's own.
  const spot = facts.spotOf((git ?? command).folder ?? folder);
  const refusals = [findFileWrite(command, spot, facts)];
  if (git && spot?.guarded) {
    refusals.push(findBypass(command, git));
    if (git.folder !== undefined) refusals.push(findBranchWrite(command, git, spot));
    if (spot.task !== undefined && MOVES.test(git.name) && facts.holding(spot) === "another's")
      refusals.push(heldByAnother(spot.task, "this would move its branch"));
  }
  return refusals.filter((refusal) => refusal !== undefined);
}
