import type { Way } from "../../judge/trust.ts";
import { columns, paragraphs, plural, type Style } from "../../model/text.ts";
import type { GuardActivation } from "../../ports/guard.ts";
import type { AgentNext, PreparedCommit, ProjectProposal } from "../../ports/installation.ts";
import { beginRows, type FileReport, fileRows, rowsOf } from "./file-report.ts";
import { proposalRows } from "./proposal-rows.ts";
import type { Profile } from "./request.ts";

export interface InstallReport extends FileReport {
  version: string;
  profile: Profile;
  /** A human has just read what is written, proposed and run, and said yes to it. */
  shown: boolean;
  /** How many files of the program were copied into the clone. */
  runtime: number;
  /** What was proposed for a first `.pawl/config.yaml`; null where there was one. */
  proposed: ProjectProposal | null;
  commit: { branch: string; id: string; left: { path: string; why: string }[] } | null;
  /** The files are in place, and the commit that is checked out does not have them. */
  uncommitted: boolean;
  agents: AgentNext[];
  guard: {
    protected: string[];
    /** The remotes that this run began to trust. */
    trusted: { name: string; address: string }[];
    chained: string[];
    changed: string[];
  } | null;
  /** The commands that the repository's configuration makes pawl run, shown when a clone gets its guard. */
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
  const asShown = (lines: string[][]) => (report.shown ? [] : lines);
  const rows = [
    ...(report.shown && report.written.length > 0
      ? [["wrote", plural(report.written.length, "file")]]
      : fileRows(report, style)),
    ...(report.runtime > 0
      ? [["copied", `pawl ${report.version} into this clone (${plural(report.runtime, "file")})`]]
      : []),
    ...asShown(proposed ? proposalRows(proposed) : []),
    ...(guard ? [["guard", `protected: ${guard.protected.join(", ")}`]] : []),
    ...rowsOf("trusts", guard?.trusted.map(({ name, address }) => `${name} (${address})`) ?? []),
    ...asShown(rowsOf("runs", report.commands)),
    ...(guard && guard.chained.length > 0
      ? [["", `hooks that keep running: ${guard.chained.join(", ")}`]]
      : []),
    ...(commit ? [["commit", `${commit.id.slice(0, 12)} on ${commit.branch}`]] : []),
    ...rowsOf(
      "",
      (commit?.left ?? []).map(({ path, why }) => `not ${path}: ${why}`),
    ),
    ...(nothing && !commit ? [] : beginRows(report.agents)),
  ];
  return paragraphs(
    nothing && !commit
      ? `Everything was already in place${report.uncommitted ? ", but pawl's files are not committed" : ""}.`
      : style.green(`pawl ${report.version} is installed.`),
    columns(rows),
  );
}
