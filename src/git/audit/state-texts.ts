import { isEventLog } from "../../model/event-line.ts";
import { FETCHED_STATE_REF, STATE_REF } from "../../model/naming.ts";
import { readBlobs, textOf } from "../cat-file.ts";
import type { Git } from "../run-git.ts";
import { hasFetchedCopies } from "./fetched-copies.ts";
import type { HistoryGit } from "./history-git.ts";

/** The records as a commit of the state has them, without a folder of their own: a clone for a check has none. */
export async function readStateTexts(
  git: HistoryGit,
  commit: string | undefined,
  wanted: (path: string) => boolean,
): Promise<{ commit: string; texts: Map<string, string | undefined> } | undefined> {
  const tip = commit ?? (await fetchedState(git));
  if (tip === undefined) return undefined;
  const listed = await git.must(["ls-tree", "-r", "-z", "--full-tree", tip]);
  const files = listed.split("\0").flatMap((entry) => {
    const [, id, path] = /^100(?:644|755) blob ([0-9a-f]+)\t([\s\S]+)$/.exec(entry) ?? [];
    return id && path && wanted(path) ? [{ id, path }] : [];
  });
  const contents = await readBlobs(
    git,
    "The published state could not be read",
    files.map((one) => one.id),
  );
  return { commit: tip, texts: new Map(files.map(({ id, path }) => [path, textOf(contents.get(id))])) };
}

/** Every text that the files of a folder have had in the history of a commit. */
export async function readVersions(
  git: Git,
  commit: string,
  folder: string,
): Promise<{ path: string; text: string }[]> {
  const what = "The history of the state could not be read";
  const args = ["log", "-m", "--full-history", "--no-renames", "--raw", "--no-abbrev", "-z", "--format="];
  const out = await git.expect(what, [...args, commit, "--", folder]);
  const listed = [...out.matchAll(/:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [AM]\0([^\0]+)\0/g)];
  const paths = new Map(listed.map(([, id = "", path = ""]) => [id, path]));
  const contents = await readBlobs(git, what, [...paths.keys()]);
  return [...paths].flatMap(([id, path]) => {
    const text = textOf(contents.get(id));
    return text === undefined ? [] : [{ path, text }];
  });
}

/**
 * What is not in the later of two commits any more: records, and lines of the logs. A file that became a link or a folder
 * is one that nobody reads any more. Lines that no event can be read from were torn, and are taken out by whoever goes on.
 */
export async function readRemoved(git: HistoryGit, old: string, fresh: string): Promise<string[]> {
  const listed = await git.must(["diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", old, fresh]);
  const changes = [...listed.matchAll(/:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\0([^\0]+)\0/g)];
  const gone = changes.filter(([, , , how, path = ""]) => how !== "A" && how !== "M" && isKept(path));
  const logs = changes.filter(([, , , how, path = ""]) => how === "M" && isEventLog(path));
  const contents = await readBlobs(
    git,
    "The published state could not be read",
    logs.flatMap(([, before = "", after = ""]) => [before, after]),
  );
  const lines = (id: string) => (textOf(contents.get(id)) ?? "").split("\n").filter(isEvent);
  const cut = logs.filter(([, before = "", after = ""]) => {
    const left = new Set(lines(after));
    return lines(before).some((line) => !left.has(line));
  });
  return [...gone, ...cut].map(([, , , , path = ""]) => path).sort();
}

const isKept = (path: string) => path.endsWith(".md") || isEventLog(path);

function isEvent(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}

/** What was fetched last; in a clone that also works, the branch of its own may be behind. */
async function fetchedState(git: HistoryGit): Promise<string | undefined> {
  const fetched = (await hasFetchedCopies(git)) ? await git.commitOf(FETCHED_STATE_REF) : undefined;
  return fetched ?? (await git.commitOf(STATE_REF));
}
