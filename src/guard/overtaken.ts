import { join } from "node:path";
import { namesIfPresent, textIfPresent } from "../files/read.ts";
import { Git } from "../git/run-git.ts";
import type { Environment } from "../model/environment.ts";

/** An approved merge that the remote does not have, while it went on without it. */
export interface Overtaken {
  branch: string;
  task: string;
}

/** Neither pull nor push gets anybody on from there; the merge has to be made once more. */
export function overtakenMerges(commonDir: string, env: Environment): Overtaken[] {
  const moves = textIfPresent(join(commonDir, "pawl", "moves")) ?? "";
  if (!moves.includes(" approved\n")) return [];
  const git = Git.of("shared", env, commonDir);
  return namesIfPresent(join(commonDir, "pawl", "tips")).flatMap((name) => {
    const branch = name.replaceAll("~", "/");
    const tip = git.lineSync(["rev-parse", "-q", "--verify", `refs/heads/${branch}`]);
    if (tip === undefined || !moves.includes(` ${tip} refs/heads/${branch} approved\n`)) return [];
    const remote = ["for-each-ref", "--format=%(objectname)", `refs/remotes/*/${branch}`];
    const theirs = git.askSync(remote).out.split("\n").filter(Boolean);
    const ahead = (one: string) => git.askSync(["merge-base", "--is-ancestor", one, tip]).code === 0;
    if (theirs.length === 0 || theirs.every(ahead)) return [];
    const trailer = ["log", "-1", "--format=%(trailers:key=Pawl-Task,valueonly)", tip];
    const task = git.lineSync(trailer);
    return task !== undefined && /^T\d+$/.test(task) && !theirs.includes(tip) ? [{ branch, task }] : [];
  });
}

export const tellOvertaken = ({ branch, task }: Overtaken) =>
  `The remote's ${branch} moved on without the merge of ${task}. A human has to merge it again: pawl approve ${task} --redo --push`;
