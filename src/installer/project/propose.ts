import type { ProjectProposal } from "../../ports/installation.ts";
import type { ProjectLook, Proposed } from "./kinds.ts";
import { LANGUAGES } from "./languages.ts";
import { isPackedByNpm } from "./publishing.ts";
import { deno, javascript, php, targets } from "./scripts.ts";
import { workflows } from "./workflows.ts";

/**
 * What this project's gates should require, and what a fresh worktree needs before that can run. What the project names
 * itself counts for more than what its language usually does; only a project that says nothing is asked for its CI.
 */
export function proposeFor(look: ProjectLook): Omit<ProjectProposal, "missing"> {
  const found = [javascript, deno, php].flatMap((kind) => kind(look) ?? []);
  const named = found.some((one) => one.checks.test !== undefined) ? undefined : targets(look);
  const guessed = LANGUAGES.flatMap((kind) => kind(look) ?? []);
  const covered = named === undefined ? guessed : guessed.map(withoutTest);
  const all = [...(named ? [named] : []), ...found, ...covered];
  const told = all.some((one) => Object.keys(one.checks).length > 0) ? [] : [workflows(look) ?? []].flat();
  const kinds = [...all, ...told].filter(
    (one) => Object.keys(one.checks).length > 0 || one.setup !== undefined,
  );
  const setup = [...new Set(kinds.flatMap((one) => one.setup ?? []))].join(" && ");
  return {
    checks: kinds.flatMap(checksIn),
    setup: setup === "" ? undefined : setup,
    from: [...new Set(kinds.map((one) => one.from))],
    packed: isPackedByNpm(look),
  };
}

/** A target of the project's own runs the tests of whatever languages there are. */
function withoutTest(one: Proposed): Proposed {
  const { test: _test, ...checks } = one.checks;
  return { ...one, checks };
}

/** The first kind has the plain names; those of others say whose they are. */
function checksIn(one: Proposed, index: number, all: readonly Proposed[]): ProjectProposal["checks"] {
  const taken = new Set(all.slice(0, index).flatMap((other) => Object.keys(other.checks)));
  return Object.entries(one.checks).map(([name, command]) => ({
    name: taken.has(name) ? `${name}-${one.tool}` : name,
    command,
  }));
}
