import type { ProjectProposal } from "../../ports/installation.ts";
import { rowsOf } from "./file-report.ts";

const PACKED =
  "npm would publish these files with yours: name what belongs to the package under `files` in package.json, or leave them out in .npmignore";

const NONE_FOUND =
  "none found in this project: name yours under `checks:` in .pawl/config.yaml, or say `checks: none`";

const NONE_WANTED =
  "none required. Before its merge each task still needs one that passed (pawl verify -- <test command>), unless .pawl/config.yaml says `checks: none`";

/** Known before the branch is guarded, while the checks are still easy to change. */
export const notHere = (missing: readonly string[]) =>
  `${missing.join(", ")}, which ${missing.length === 1 ? "is" : "are"} not on your PATH; without it the checks cannot run here, and nothing can be approved`;

/** What is left of a proposal once a human has chosen from it. */
export interface Chosen extends ProjectProposal {
  /** There are checks, and the human does not want them required. */
  declined?: boolean;
}

/** What the new `.pawl/config.yaml` says about checks, or that nobody has said anything. */
export function proposalRows({ checks, declined, setup, from, packed, missing }: Chosen): string[][] {
  const published = packed ? [["package", PACKED]] : [];
  const needed = [
    ...(setup === undefined ? [] : [["setup", setup]]),
    ...(missing.length === 0 ? [] : [["missing", notHere(missing)]]),
  ];
  if (checks.length === 0) return [["checks", declined ? NONE_WANTED : NONE_FOUND], ...needed, ...published];
  const named = checks.map(({ name, command }) => `${name}: ${command}`);
  return [
    ...rowsOf("checks", [...named, `(from ${from.join(", ")}; edit them in .pawl/config.yaml)`]),
    ...needed,
    ...published,
  ];
}

/** The same as steps of a dry run. */
export function proposalSteps({
  checks,
  setup,
  from,
  missing,
}: ProjectProposal): { do: string; path: string }[] {
  if (checks.length === 0) return [{ do: "require", path: `no checks: ${NONE_FOUND}` }];
  return [
    ...checks.map(({ name, command }) => ({
      do: "require",
      path: `the check ${name}: ${command} (from ${from.join(", ")})`,
    })),
    ...(missing.length === 0 ? [] : [{ do: "need", path: notHere(missing) }]),
    ...(setup === undefined ? [] : [{ do: "set up", path: `each task's worktree with: ${setup}` }]),
  ];
}
