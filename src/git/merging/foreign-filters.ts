import { rmSync } from "node:fs";
import { makeScratch } from "../../files/scratch-folder.ts";
import { Git } from "../run-git.ts";

const WHAT = "The files of the trial merge could not be compared with the commit";

/**
 * Files of a fresh checkout that are not what the commit has, although the commit asks for no filter there. Whoever can
 * write to the git directory can have a filter put other files in their place (`.git/info/attributes`), and checks would run
 * on those. What the commit's own `.gitattributes` names, as for Git LFS, is meant to differ.
 */
export async function foreignFilters(git: Git, place: string): Promise<string[]> {
  const there = Git.in("quiet", git.env, place);
  if ((await there.ask(["config", "--name-only", "--get-regexp", "^filter[.]"])).code !== 0) return [];
  const filtered = await filteredIn(there, await there.expect(WHAT, ["ls-files", "-z"]));
  const changed = await changedOf(there, filtered);
  if (changed.length === 0) return [];
  const meant = new Set(await filteredByCommit(git, place, changed));
  // A file of attributes that was changed says what its changer likes.
  return changed.filter((path) => !meant.has(path) || path.split("/").at(-1) === ".gitattributes");
}

async function filteredIn(git: Git, paths: string): Promise<string[]> {
  const told = await git.expect(WHAT, ["check-attr", "-z", "--stdin", "filter"], paths);
  const words = told.split("\0");
  const rows = words.flatMap((path, at) => (at % 3 === 0 && path ? [{ path, value: words[at + 2] }] : []));
  return rows
    .filter(({ value = "" }) => !["unspecified", "unset", "set", ""].includes(value))
    .map((one) => one.path);
}

async function changedOf(git: Git, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const listed = await git.expect(WHAT, ["ls-files", "-s", "-z"]);
  const ids = new Map<string, string>();
  for (const [, id = "", path = ""] of listed.matchAll(/100\d{3} ([0-9a-f]+) 0\t([^\0]+)\0/g))
    ids.set(path, id);
  // git reads one name per line here; a name with a line break in it is taken for a changed file.
  const plain = paths.filter((path) => ids.has(path) && !path.includes("\n"));
  const odd = paths.filter((path) => path.includes("\n"));
  const args = ["hash-object", "--no-filters", "--stdin-paths"];
  const found = plain.length === 0 ? [] : (await git.expect(WHAT, args, plain.join("\n"))).split("\n");
  return [...odd, ...plain.filter((path, at) => found[at] !== ids.get(path))];
}

/** Asked of a repository that has no attributes of its own, over the same files. */
async function filteredByCommit(git: Git, place: string, paths: readonly string[]): Promise<string[]> {
  const gitDir = makeScratch("attributes");
  try {
    await Git.in("quiet", git.env, gitDir).expect(WHAT, ["init", "-q", "--bare", "--template=", gitDir]);
    const bare = Git.on("quiet", { ...git.env, GIT_ATTR_NOSYSTEM: "1" }, { root: place, gitDir });
    const args = ["-c", "core.attributesFile=/dev/null", "-c", "core.bare=false"];
    const told = await bare.expect(
      WHAT,
      [...args, "check-attr", "-z", "--stdin", "filter"],
      paths.join("\0"),
    );
    const words = told.split("\0");
    return words.filter(
      (_path, at) => at % 3 === 0 && !["unspecified", "unset", undefined].includes(words[at + 2]),
    );
  } finally {
    rmSync(gitDir, { recursive: true, force: true });
  }
}
