import { nextAfter, whyItEnded } from "../../judge/runs/outcome.ts";
import { showDuration } from "../../model/duration.ts";
import type { RunAttempt } from "../../model/records/attempt.ts";
import type { Evidence, Handoff } from "../../model/records/parts.ts";
import type { Run } from "../../model/records/run.ts";
import { firstLine, plural } from "../../model/text.ts";
import type { EndFacts } from "./run-end.ts";

const MOST_FILES = 100;

/** What pawl itself saw of an attempt, and nothing that anybody claims, but for the agent's last words as such. */
export function automaticHandoff(
  value: Run,
  attempt: RunAttempt,
  facts: EndFacts,
  proofs: readonly Evidence[],
): Pick<Handoff, "what" | "changed" | "validation" | "blocker" | "next"> {
  const { outcome, ended, heads } = facts;
  const said = ended?.progress.said ?? "";
  const lines = [
    `${attempt.agent} left no handoff. ${howItEnded(value, attempt, facts)}`,
    ...headLines(facts),
    ...(said === "" ? [] : [`Its last words: ${firstLine(said, 300)}`]),
  ];
  const { command } = nextAfter(value.id, outcome);
  const several = heads.length > 1;
  return {
    what: lines.join("\n"),
    changed: heads
      .flatMap(({ repo, changed }) => changed.map((file) => (several ? `${repo}: ${file}` : file)))
      .slice(0, MOST_FILES),
    validation: proofs.map((one) => `${one.id}: ${firstLine(one.argv.join(" "), 80)}: exit ${one.exit_code}`),
    blocker: whyItEnded(outcome),
    next: command,
  };
}

export function howItEnded(value: Run, attempt: RunAttempt, { outcome }: EndFacts): string {
  const took = attempt.seconds === undefined ? "" : ` after ${showDuration(attempt.seconds)}`;
  const reason = outcome.reason === undefined ? "" : ` (${outcome.reason})`;
  return `${value.id}, attempt ${attempt.number}, ${outcome.status}${reason}${took}.`;
}

/** What git says of each repository's branch. */
export const headLines = ({ heads }: EndFacts): string[] =>
  heads.map(({ repo, head, changed, isDirty }) =>
    [
      `${repo}: ${plural(changed.length, "file")} changed on the branch`,
      head === undefined ? "the branch is gone" : `at ${head.slice(0, 12)}`,
      isDirty ? "with uncommitted changes" : "",
    ]
      .filter(Boolean)
      .join(", "),
  );
