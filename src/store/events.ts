import type { Phase } from "../ports/hands.ts";
import type { Effect, Situation } from "../ports/operation.ts";

/** One line of the append-only log: which record came to which rev, by whom, where, in which operation. */
export interface StateEvent {
  time: string;
  event: string;
  /** For what is done outside the store: said before, and after it was done or had failed. */
  phase: Phase | undefined;
  record: string;
  task: string | undefined;
  about: string;
  actor: string;
  /** On the page; absent for a command or a tool. */
  how: Situation["how"];
  repo: string | undefined;
  branch: string | undefined;
  commit: string | undefined;
  path: string;
  /** The beginning of the sha256 of what was written, so that a later change by other means can be told. */
  text: string | undefined;
  /** The same of what it replaced: a change by hand in between is seen, however often the record is written afterwards. */
  before: string | undefined;
}

const ENOUGH = 16;

export function eventsOf(
  operation: string,
  effects: readonly Effect[],
  at: Situation,
  phase?: Phase,
): StateEvent[] {
  return effects.map((effect) => ({
    time: at.now,
    event: operation,
    phase,
    record: `${effect.record}@${effect.rev}`,
    task: /^T\d+/.exec(effect.record)?.[0],
    about: effect.about,
    actor: at.actor,
    how: at.how,
    repo: at.repo,
    branch: at.branch,
    commit: at.commit,
    path: effect.path,
    text: effect.do === "attach" ? undefined : at.sha256(effect.text).slice(0, ENOUGH),
    before: effect.do === "replace" ? at.sha256(effect.before).slice(0, ENOUGH) : undefined,
  }));
}
