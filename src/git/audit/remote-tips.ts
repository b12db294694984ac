import { rmSync } from "node:fs";
import { makeScratch } from "../../files/scratch-folder.ts";
import { branchOfRef } from "../../model/naming.ts";
import type { AskedRemote, RemoteAnswer } from "../../ports/audits.ts";
import { type Transfer, transfer } from "../transfer.ts";
import { known, readHistory } from "./history.ts";
import { HistoryGit } from "./history-git.ts";

type Progress = Transfer["progress"];

/** Whoever waits for this wants an answer, not a password prompt or a host that never replies. */
const PATIENCE_SECONDS = 20;

/** Compares what this clone believes of each remote's branch with what the remote itself says. */
export async function askRemotes(
  git: HistoryGit,
  ref: string,
  remotes: readonly AskedRemote[],
  progress: Progress,
): Promise<RemoteAnswer[]> {
  const branch = branchOfRef(ref);
  const answers: RemoteAnswer[] = [];
  for (const { name, word, beyond } of remotes) {
    const tracking = `refs/remotes/${name}/${branch}`;
    const believed = await git.commitOf(tracking);
    if (believed === undefined) continue;
    const fact = { name, tracking, believed };
    const there = word === undefined ? await tipThere(git, name, ref, progress) : undefined;
    if (there === undefined) answers.push({ ...fact, word: word ?? "silent", upTo: undefined, ahead: [] });
    else
      answers.push({
        ...fact,
        ...(await compare(git, { remote: name, ref, believed, there, beyond, progress })),
      });
  }
  return answers;
}

/** The remote's own word; empty when it has no such branch, undefined when nobody answers. */
async function tipThere(
  git: HistoryGit,
  remote: string,
  ref: string,
  progress: Progress,
): Promise<string | undefined> {
  const asked = await transfer("ls-remote", remote, [ref], wayTo(git, progress));
  if (!asked.ok) return undefined;
  const line = asked.out.split("\n").find((one) => one.endsWith(`\t${ref}`));
  return line?.split("\t")[0] ?? "";
}

/** What the clone believes of a remote's branch, and what the remote says. */
interface Claim {
  remote: string;
  ref: string;
  believed: string;
  there: string;
  beyond: readonly string[];
  progress: Progress;
}

type Verdict = Pick<RemoteAnswer, "word" | "upTo" | "ahead">;

async function compare(git: HistoryGit, claim: Claim): Promise<Verdict> {
  const { believed, there, beyond } = claim;
  if (there === "") return { word: "denied", upTo: undefined, ahead: [] };
  if ((await known(git, [there])).length === 0) return compareUnfetched(git, claim);
  const word = (await git.isAncestor(believed, there)) ? "confirmed" : "denied";
  return { word, upTo: there, ahead: await readHistory(git, { tip: there, without: beyond }) };
}

/** The remote went on since the last fetch. Its new commits are looked at in a place of their own, and forgotten. */
async function compareUnfetched(git: HistoryGit, claim: Claim): Promise<Verdict> {
  const { remote, ref, believed, there, beyond, progress } = claim;
  const folder = makeScratch("audit");
  const extra = git.writingTo(folder);
  try {
    const way = wayTo(git, progress);
    const options = ["--no-tags", "--no-write-fetch-head", "--refmap=", "--no-auto-maintenance"];
    const call = { ...way, options, extra: { ...way.extra, ...extra } };
    if (!(await transfer("fetch", remote, [ref], call)).ok)
      return { word: "silent", upTo: undefined, ahead: [] };
    const both = new HistoryGit(git.site, { ...git.env, ...extra });
    const ahead = await readHistory(both, { tip: there, without: beyond });
    if (await both.isAncestor(believed, there)) return { word: "confirmed", upTo: believed, ahead };
    // What both have in common is confirmed still.
    return { word: "denied", upTo: await both.line(["merge-base", believed, there]), ahead };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the settings that everybody's git has for the way there. */
const wayTo = ({ site, env }: HistoryGit, progress: Progress): Transfer => ({
  cwd: site.mainRoot ?? site.commonDir,
  env,
  extra: { GIT_DIR: site.commonDir },
  shared: true,
  patienceSeconds: PATIENCE_SECONDS,
  progress,
});
