import { matching, text } from "../fields.ts";
import { kind, type ValueOf } from "../record.ts";
import { provenance } from "./shared.ts";

/** A human opened a protected branch for a while; append-only. */
export const unlock = kind({
  name: "unlock",
  plural: "unlocks",
  letter: "U",
  fields: {
    id: matching(/^U\d{4,}$/, "an id such as U0001", "U0001"),
    ref: text("refs/heads/main"),
    until: text("2026-11-16T12:00:00.000Z"),
    /** How the human confirmed it. */
    how: text("typed main on the terminal"),
    ...provenance,
  },
  sections: { reason: "Reason" },
});

export type Unlock = ValueOf<typeof unlock>;
