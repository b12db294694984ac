import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { AskedRemote, RemoteAnswer } from "../../ports/audits.ts";
import { Git, type GitAnswer } from "../run-git.ts";
import { known } from "./history.ts";
import type { HistoryGit } from "./history-git.ts";

/** Whoever waits for this wants an answer, not a password prompt or a host that never replies. */
const PATIENCE_SECONDS = 20;

/** Compares what this clone believes of each remote's branch with what the remote itself says. */
export async function askRemotes(
  git: HistoryGit,
  ref: string,
  remotes: readonly AskedRemote[],
): Promise<RemoteAnswer[]> {
  const branch = ref.replace(/^refs\/heads\//, "");
  const answers: RemoteAnswer[] = [];
  for (const { name, word } of remotes) {
    const tracking = `refs/remotes/${name}/${branch}`;
    const believed = await git.commitOf(tracking);
    if (believed === undefined) continue;
    const fact = { name, tracking, believed };
    const there = word === undefined ? await tipThere(git, name, ref) : undefined;
    if (there === undefined) answers.push({ ...fact, word: word ?? "silent", upTo: undefined });
    else answers.push({ ...fact, ...(await compare(git, name, ref, believed, there)) });
  }
  return answers;
}

/** The remote's own word; empty when it has no such branch, undefined when nobody answers. */
async function tipThere(git: HistoryGit, remote: string, ref: string): Promise<string | undefined> {
  const { code, out } = await transferring(git, ["ls-remote", "--", remote, ref]);
  if (code !== 0) return undefined;
  const line = out.split("\n").find((one) => one.endsWith(`\t${ref}`));
  return line?.split("\t")[0] ?? "";
}

async function compare(
  git: HistoryGit,
  remote: string,
  ref: string,
  believed: string,
  there: string,
): Promise<Pick<RemoteAnswer, "word" | "upTo">> {
  if (there === believed) return { word: "confirmed", upTo: believed };
  if (there === "") return { word: "denied", upTo: undefined };
  if ((await known(git, [there])).length > 0)
    return (await git.isAncestor(believed, there))
      ? { word: "confirmed", upTo: there }
      : { word: "denied", upTo: there };
  return compareUnfetched(git, remote, ref, believed, there);
}

/** The remote went on since the last fetch. Its new commits are looked at in a place of their own, and forgotten. */
async function compareUnfetched(
  git: HistoryGit,
  remote: string,
  ref: string,
  believed: string,
  there: string,
): Promise<Pick<RemoteAnswer, "word" | "upTo">> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-audit-"));
  const own = git.env.GIT_OBJECT_DIRECTORY ?? join(git.site.commonDir, "objects");
  const others = [own, git.env.GIT_ALTERNATE_OBJECT_DIRECTORIES].filter(Boolean).join(delimiter);
  const extra = { GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: others };
  try {
    const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-auto-maintenance"];
    const fetched = await transferring(git, ["fetch", ...options, "--", remote, ref], extra);
    if (fetched.code !== 0) return { word: "silent", upTo: undefined };
    const both = git.with(extra);
    if (await both.isAncestor(believed, there)) return { word: "confirmed", upTo: believed };
    // What both have in common is confirmed still.
    return { word: "denied", upTo: await both.line(["merge-base", believed, there]) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the user's own settings for the way there; it never asks for anything. */
async function transferring(
  git: HistoryGit,
  args: readonly string[],
  extra: Record<string, string> = {},
): Promise<GitAnswer> {
  const { site, env } = git;
  const chosen = env.GIT_SSH_COMMAND ?? env.GIT_SSH;
  const ownWay = chosen !== undefined || (await git.ask(["config", "core.sshCommand"])).code === 0;
  const ssh = `ssh -oBatchMode=yes -oConnectTimeout=${PATIENCE_SECONDS}`;
  const slow = ["-c", "http.lowSpeedLimit=1", "-c", `http.lowSpeedTime=${PATIENCE_SECONDS}`];
  const way: Record<string, string> = ownWay ? {} : { GIT_SSH_COMMAND: ssh };
  const asking = Git.at("shared", env, site).with({ GIT_DIR: site.commonDir, ...way, ...extra });
  return asking.ask([...slow, ...args]);
}
