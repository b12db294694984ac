import { flag, group, list, matching, oneOf, optional, sha, text, time } from "../fields.ts";
import { kind, type ValueOf } from "../record.ts";
import { provenance } from "./shared.ts";
import { signed } from "./signed.ts";

/**
 * A human opened a protected branch for a while. Once it is closed, it says exactly what was done meanwhile. What loosens
 * and moves no branch is kept as one that was never open.
 */
export const unlock = kind({
  name: "unlock",
  plural: "unlocks",
  letter: "U",
  fields: {
    id: matching(/^U\d{4,}$/, "an id such as U0001", "U0001"),
    status: oneOf(["open", "closed"]),
    ref: text("refs/heads/main"),
    /** Where the branch was when it was opened; absent when there was no such branch yet. */
    tip: optional(sha),
    until: time,
    closed: optional(time),
    /** How the human confirmed it. */
    how: text("typed main on the terminal"),
    /** The clone in which the branch was open: only there is it known what moved it. */
    clone: text("1a2b3c4d"),
    /** Every move of the branch while it was open. The commits of a move are those that `new` has and `old` has not. */
    moves: list(group({ old: sha, new: sha })),
    /** What was decided and moved no branch: which records are kept where two clones disagree, or that pawl is taken out. */
    decided: optional(
      group({
        about: oneOf(["settle", "uninstall"]),
        /** The protected branches whose keys had to agree, and where they were. */
        branches: list(group({ ref: text("refs/heads/main"), tip: sha })),
        /** The states that were brought together; absent where one had no commit yet. */
        ours: optional(sha),
        theirs: optional(sha),
        keep_ours: list(text("T0001/F1")),
        keep_theirs: list(text("T0001/F2")),
      }),
    ),
    /** A remote has had what they led to. */
    pushed: optional(flag),
    ...signed,
    ...provenance,
  },
  sections: { reason: "Reason" },
});

export type Decided = NonNullable<Unlock["decided"]>;
export type Unlock = ValueOf<typeof unlock>;
