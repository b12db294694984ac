import { integer, matching, optional, sha, text, time } from "../fields.ts";

/** Every record says who, when and where; the rev counts its writes. */
export const provenance = {
  rev: integer,
  actor: text("human:Ada"),
  created: time,
  updated: time,
  repo: optional(text("my-project")),
  branch: optional(text("main")),
  commit: optional(sha),
} as const;

export const digest = matching(/^[0-9a-f]{64}$/, "a sha256", `"${"0123abcd".repeat(8)}"`);
export const taskId = matching(/^T\d{4,}$/, "a task id", "T0001");
export const sliceId = matching(/^S\d+$/, "a slice id", "S1");

export function partId(letter: string) {
  return matching(
    new RegExp(`^T\\d{4,}/${letter}\\d+$`),
    `an id such as T0001/${letter}1`,
    `T0001/${letter}1`,
  );
}
