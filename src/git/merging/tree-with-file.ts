import type { Git } from "../run-git.ts";

const WHAT = "The new tree could not be created";

/** The tree of a commit with one file replaced or added, made as objects only. */
export async function treeWithFile(git: Git, commit: string, path: string, text: string): Promise<string> {
  const blob = (await git.expect(WHAT, ["hash-object", "-w", "--stdin"], text)).trim();
  return withEntry(git, `${commit}^{tree}`, path.split("/"), `100644 blob ${blob}`);
}

async function withEntry(git: Git, tree: string, path: readonly string[], entry: string): Promise<string> {
  const [name = "", ...rest] = path;
  const rows = await git.names(WHAT, ["ls-tree", "-z", tree]);
  const old = rows.find((row) => row.endsWith(`\t${name}`));
  const isFolder = old?.startsWith("040000 ") ?? false;
  const below = isFolder ? (old as string).slice("040000 tree ".length).split("\t")[0] : await emptyTree(git);
  const fresh =
    rest.length === 0 ? entry : `040000 tree ${await withEntry(git, below as string, rest, entry)}`;
  const all = [...rows.filter((row) => row !== old), `${fresh}\t${name}`];
  return (await git.expect(WHAT, ["mktree", "-z"], all.map((row) => `${row}\0`).join(""))).trim();
}

const emptyTree = (git: Git) => git.expect(WHAT, ["mktree"], "");
