import type { Way } from "../../judge/trust.ts";
import { columns, paragraphs, plural, type Style } from "../../model/text.ts";
import type { GuardActivation } from "../../ports/guard.ts";
import type { AgentNext, PreparedCommit, ProjectProposal } from "../../ports/installation.ts";
import { type FileReport, fileRows, nextRows, rowsOf } from "./file-report.ts";
import { proposalRows } from "./proposal-rows.ts";
import type { Profile } from "./request.ts";

export interface InstallReport extends FileReport {
  version: string;
  profile: Profile;
  /** How many files of the program were copied into the clone. */
  runtime: number;
  /** What was proposed for a first `.pawl/config.yaml`; null where there was one. */
  proposed: ProjectProposal | null;
  commit: { branch: string; id: string; left: { path: string; why: string }[] } | null;
  agents: AgentNext[];
  guard: {
    protected: string[];
    /** The remotes that this run began to trust. */
    trusted: { name: string; address: string }[];
    chained: string[];
    changed: string[];
  } | null;
  /** What the repository's own configuration has pawl run; told when the guard comes to a clone. */
  commands: string[];
}

export const reportCommit = (made: PreparedCommit | undefined): InstallReport["commit"] =>
  made ? { branch: made.branch, id: made.commit, left: made.left } : null;

export const reportGuard = (
  guard: GuardActivation | undefined,
  taken: readonly Way[],
): InstallReport["guard"] =>
  guard
    ? {
        protected: guard.patterns,
        trusted: taken.map(({ name, address }) => ({ name, address })),
        chained: guard.previous,
        changed: guard.changed,
      }
    : null;

export function describeInstall(report: InstallReport, style: Style): string {
  const { guard, commit, proposed } = report;
  const nothing =
    report.written.length + report.removed.length + report.runtime + (guard?.changed.length ?? 0) === 0;
  const rows = [
    ...fileRows(report, style),
    ...(report.runtime > 0
      ? [["copied", `pawl ${report.version} into this clone (${plural(report.runtime, "file")})`]]
      : []),
    ...(proposed ? proposalRows(proposed) : []),
    ...(guard ? [["guard", `protected: ${guard.protected.join(", ")}`]] : []),
    ...rowsOf("trusts", guard?.trusted.map(({ name, address }) => `${name} (${address})`) ?? []),
    ...rowsOf("runs", report.commands),
    ...(guard && guard.chained.length > 0
      ? [["", `hooks that keep running: ${guard.chained.join(", ")}`]]
      : []),
    ...(commit ? [["commit", `${commit.id.slice(0, 12)} on ${commit.branch}`]] : []),
    ...rowsOf(
      "",
      (commit?.left ?? []).map(({ path, why }) => `not ${path}: ${why}`),
    ),
  ];
  return paragraphs(
    nothing && !commit
      ? "Everything was already in place."
      : style.green(`pawl ${report.version} is installed.`),
    columns(rows),
    nextRows(report.agents, style),
  );
}
