import { readGuardedTips, readPassed } from "../git/guard-files.ts";
import { Git } from "../git/run-git.ts";
import type { Environment } from "../model/environment.ts";
import { branchOfRef } from "../model/naming.ts";
import type { MergeAhead } from "../ports/guard.ts";

/** Approved merges that the remotes of this clone lack, as far as they were fetched. */
export function mergesAhead(commonDir: string, env: Environment): MergeAhead[] {
  const approved = readPassed(commonDir).filter((one) => one.why === "approved");
  if (approved.length === 0) return [];
  const git = Git.of("shared", env, commonDir);
  return readGuardedTips(commonDir).flatMap(({ ref }) => {
    const tip = git.lineSync(["rev-parse", "-q", "--verify", ref]);
    if (tip === undefined || !approved.some((one) => one.ref === ref && one.new === tip)) return [];
    const branch = branchOfRef(ref);
    const wanted = ["for-each-ref", "--format=%(objectname) %(refname)", `refs/remotes/*/${branch}`];
    const theirs = git.askSync(wanted).out.split("\n").filter(Boolean).map(splitLine);
    const isIn = (one: string, other: string) =>
      git.askSync(["merge-base", "--is-ancestor", one, other]).code === 0;
    const [first] = theirs;
    if (!first || theirs.some(({ commit }) => isIn(tip, commit))) return [];
    const apart = theirs.find(({ commit }) => !isIn(commit, tip));
    const trailer = ["log", "-1", "--format=%(trailers:key=Pawl-Task,valueonly)", tip];
    const said = git.lineSync(trailer);
    const task = said !== undefined && /^T\d+$/.test(said) ? said : undefined;
    const remote = (apart ?? first).ref.slice("refs/remotes/".length, -branch.length - 1);
    return [{ branch, remote, task, overtaken: apart !== undefined }];
  });
}

function splitLine(line: string): { commit: string; ref: string } {
  const [commit = "", ref = ""] = line.split(" ");
  return { commit, ref };
}

export interface Overtaken extends MergeAhead {
  task: string;
}

export const overtakenMerges = (commonDir: string, env: Environment): Overtaken[] =>
  mergesAhead(commonDir, env).flatMap((one) =>
    one.overtaken && one.task !== undefined ? [{ ...one, task: one.task }] : [],
  );

export const tellOvertaken = ({ branch, task }: Overtaken) =>
  `The remote's ${branch} moved on without the merge of ${task}. A human has to merge it again: pawl approve ${task} --redo --push`;
