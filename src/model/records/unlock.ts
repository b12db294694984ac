import { flag, group, list, matching, oneOf, optional, sha, text, time } from "../fields.ts";
import { kind, type ValueOf } from "../record.ts";
import { provenance } from "./shared.ts";
import { signed } from "./signed.ts";

/** A human opened a protected branch for a while. Once it is closed, it says exactly what was done meanwhile. */
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
    /** A remote has had what they led to. */
    pushed: optional(flag),
    ...signed,
    ...provenance,
  },
  sections: { reason: "Reason" },
});

export type Unlock = ValueOf<typeof unlock>;
