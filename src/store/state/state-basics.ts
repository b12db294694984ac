import { hasRef } from "../../git/refs.ts";
import { Git } from "../../git/run-git.ts";
import type { Environment } from "../../model/environment.ts";
import { STATE_REF } from "../../model/naming.ts";

/** The state repository: its records are a work tree, its history lives out of reach of any clean. */
export interface StateRepository {
  state: string;
  gitDir: string;
  env: Environment;
}

export const REF = STATE_REF;

/** For its history. */
export const gitOf = (repo: StateRepository) => Git.of("records", repo.env, repo.gitDir);

export function tip(repo: StateRepository): string | undefined {
  // A new one has no branch yet, which its files tell without a git of its own.
  if (!hasRef(repo.gitDir, REF)) return undefined;
  return gitOf(repo).lineSync(["rev-parse", "-q", "--verify", `${REF}^{commit}`]);
}
