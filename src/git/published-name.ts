import type { Environment } from "../model/environment.ts";
import { quickValue } from "../model/markdown/front-matter.ts";
import { FETCHED_STATE_REF } from "../model/naming.ts";
import { hasRef } from "./refs.ts";
import { Git } from "./run-git.ts";

/** What the records that the remote has call this repository, for a clone that has not taken them over yet. */
export function publishedName(
  { commonDir, name }: { commonDir: string; name: string },
  env: Environment,
): string | undefined {
  if (!hasRef(commonDir, FETCHED_STATE_REF)) return undefined;
  const git = Git.of("records", env, commonDir);
  const isHome = (path: string) =>
    quickValue(git.askSync(["cat-file", "blob", `${FETCHED_STATE_REF}:${path}`]).out, "home") === "true";
  const { out } = git.askSync(["ls-tree", "-z", "--name-only", FETCHED_STATE_REF, "repos/"]);
  const homes = out
    .split("\0")
    .filter((path) => path.endsWith(".md") && isHome(path))
    .map((path) => path.slice("repos/".length, -".md".length));
  return homes.includes(name) ? name : homes[0];
}
