import { parseBatch, textOf } from "../cat-file.ts";
import type { PlainGit } from "./plain-git.ts";

const PLACES = ["refs/remotes/origin/pawl/state", "refs/heads/pawl/state"];

/** The records as a commit of the state has them, without a folder of their own: a clone for a check has none. */
export async function readStateTexts(
  git: PlainGit,
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
  const contents = parseBatch(
    await git.bytes(["cat-file", "--batch"], files.map((one) => `${one.id}\n`).join("")),
  );
  return { commit: tip, texts: new Map(files.map(({ id, path }) => [path, textOf(contents.get(id))])) };
}

/** What was fetched last; in a clone that also works, the branch of its own may be behind. */
async function fetchedState(git: PlainGit): Promise<string | undefined> {
  for (const ref of PLACES) {
    const { code, out } = await git.ask(["rev-parse", "-q", "--verify", `${ref}^{commit}`]);
    if (code === 0) return out.trim();
  }
  return undefined;
}
