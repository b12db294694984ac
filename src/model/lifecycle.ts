import { type Acting, isHuman, isSameMind, NO_TERMINAL, TO_A_TERMINAL, UNSEEN } from "./actor.ts";
import { Failure } from "./failure.ts";
import type { Finding } from "./records/parts.ts";
import type { TaskStatus } from "./records/task.ts";

/** Which status a task may be given by hand; `merged` is set by an approval alone. */
const BY_HAND: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  open: ["active", "blocked", "dropped"],
  active: ["blocked", "review", "dropped"],
  blocked: ["active", "open", "review", "dropped"],
  review: ["active", "blocked", "dropped"],
  merged: ["done"],
  done: [],
  dropped: ["open"],
};

export const LIVE: readonly TaskStatus[] = ["active", "blocked", "review"];
/** Its work is in the base branch, so what depends on it may begin; that of a dropped task never will be. */
export const MERGED: readonly string[] = ["merged", "done"];
/** Nobody works on it any more. */
export const ENDED: readonly string[] = [...MERGED, "dropped"];

export function checkTransition(id: string, from: TaskStatus, to: TaskStatus): void {
  if (from === to || BY_HAND[from].includes(to)) return;
  const ways = BY_HAND[from];
  throw new Failure("refused", "bad_transition", `${id} is ${from}; it cannot become ${to} from there.`, {
    hint:
      to === "merged"
        ? "A task becomes merged when a human approves it."
        : ways.length === 0
          ? `${from} is final. Open a new task and name this one in --depends.`
          : `From ${from} it can become ${ways.join(", ")}.`,
    details: { from, to, allowed: ways },
  });
}

/** A second pair of eyes: a human, or somebody who did not write the work. */
export function mayJudge(actor: string, authors: readonly string[], minds: readonly string[] = []): boolean {
  if (minds.length === 0 && isHuman(actor)) return true;
  if (minds.includes(UNSEEN)) return false;
  return ![actor, ...minds].some((mind) => authors.some((author) => isSameMind(author, mind)));
}

export const isAuthor = (actor: string, authors: readonly string[]) =>
  authors.some((author) => isSameMind(author, actor));

/** Why somebody may not judge who is not known to be an author. */
const UNTOLD =
  "Pawl cannot tell whether you wrote this work, because this session was not seen to begin or was started by another one";

/** Why somebody may not judge, in words that go on with what follows from it. */
export function whyNoJudge({ actor, minds }: Acting, authors: readonly string[]): string {
  if (isHuman(actor) && minds.includes(UNSEEN)) return NO_TERMINAL;
  return isAuthor(actor, authors) ? "You wrote this work" : UNTOLD;
}

/** What a human without a terminal can do about it; nobody else can. */
export const wayToCount = ({ actor, minds }: Acting) =>
  isHuman(actor) && minds.includes(UNSEEN) ? ` ${TO_A_TERMINAL}` : "";

const FROM: Readonly<Record<"fixed" | "deferred" | "wontfix" | "open", readonly Finding["status"][]>> = {
  fixed: ["open", "deferred"],
  deferred: ["open"],
  wontfix: ["open", "deferred"],
  open: ["fixed", "integrated", "deferred", "wontfix"],
};

export function checkFindingStep(finding: Pick<Finding, "id" | "status">, to: keyof typeof FROM): void {
  if (FROM[to].includes(finding.status)) return;
  throw new Failure(
    "refused",
    "bad_transition",
    finding.status === to
      ? `${finding.id} is ${to} already.`
      : `${finding.id} is ${finding.status}; it cannot become ${to} from there.`,
    {
      hint:
        finding.status === "open" ? "" : `\`pawl finding reopen ${finding.id} --note "…"\` opens it again.`,
    },
  );
}
