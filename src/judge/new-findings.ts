import { Failure } from "../model/failure.ts";
import { type Finding, finding } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import type { Effect, Situation } from "../ports/operation.ts";
import { addPart, madeNow } from "./change.ts";

/** What a reviewer says about one finding. */
export interface Said {
  text: string;
  severity: Finding["severity"];
  kind?: Finding["kind"] | undefined;
  /** The repository it is about, if not the one the reviewer is in. */
  repo?: string | undefined;
  file?: string | undefined;
  line?: number | undefined;
  fix?: string | undefined;
}

/** What the reviewer looked at, one entry for each finding. */
export interface Seen {
  places: readonly SeenPlace[];
}

export interface SeenPlace {
  repo: string | undefined;
  /** The tip of the task's branch there, wherever the reviewer is. */
  tip: string | undefined;
  /** The text of the line in question. */
  text: string | undefined;
  /** The file exists, but has fewer lines. */
  isBeyond?: boolean;
}

export interface KnownFindings extends Seen {
  task: string;
  plan: string;
  earlier: readonly Finding[];
  names: readonly string[];
}

/**
 * Adds the findings that are new. One that is already open at the same place in the same words counts as
 * repeated.
 */
export function newFindings(
  said: readonly Said[],
  known: KnownFindings,
  at: Situation,
): { added: Finding[]; repeated: Finding[]; effects: Effect[] } {
  const { task, earlier } = known;
  const taken = [...known.names];
  const added: Finding[] = [];
  const repeated: Finding[] = [];
  const effects: Effect[] = [];
  for (const [index, one] of said.entries()) {
    if (one.line !== undefined && one.file === undefined)
      throw new Failure("usage", "line_without_file", "A line needs a file.", { details: { field: "line" } });
    const place = known.places[index];
    const wanted = { ...one, kind: one.kind ?? "branch", repo: place?.repo };
    const same = [...earlier, ...added].find((other) => isSame(other, wanted));
    if (same) {
      repeated.push(same);
      continue;
    }
    const about = `${one.severity}: ${firstLine(one.text, 70)}`;
    const made = addPart(finding, task, taken, (id) => describe(id, wanted, known.plan, place, at), about);
    taken.push(`${made.value.id.slice(task.length + 1)}.md`);
    added.push(made.value);
    effects.push(made.effect);
  }
  return { added, repeated, effects };
}

/** A line that the committed file does not have may be a typo, or not committed yet. */
export const beyondEnd = (said: readonly Said[], { places }: Seen): string[] =>
  said.flatMap(({ file, line }, index) =>
    places[index]?.isBeyond ? [`${file} has no line ${line} in what is committed.`] : [],
  );

function describe(
  id: string,
  one: Said & { kind: Finding["kind"] },
  plan: string,
  place: SeenPlace | undefined,
  at: Situation,
): Finding {
  const text = place?.text;
  return {
    id,
    severity: one.severity,
    kind: one.kind,
    status: "open",
    file: one.file,
    line: one.line,
    line_sha256: text === undefined ? undefined : at.sha256(text),
    plan_digest: one.kind === "plan" ? at.sha256(plan) : undefined,
    resolved_commit: undefined,
    resolved_by: undefined,
    integrated_commit: undefined,
    reopened: 0,
    reopened_at: undefined,
    ...madeNow(at),
    repo: one.repo ?? at.repo,
    // A branch finding was seen on the task's branch, wherever the reviewer is.
    commit: one.kind === "branch" ? (place?.tip ?? at.commit) : at.commit,
    text: one.text,
    fix: one.fix ?? "",
    resolution: "",
    reopen_reasons: "",
  };
}

function isSame(known: Finding, wanted: Said & { kind: Finding["kind"] }): boolean {
  const words = (text: string) => text.toLowerCase().replace(/\s+/g, " ").trim();
  return (
    known.status === "open" &&
    known.kind === wanted.kind &&
    (wanted.file === undefined || known.repo === wanted.repo) &&
    known.file === wanted.file &&
    known.line === wanted.line &&
    words(known.text) === words(wanted.text)
  );
}
