import { Failure } from "../model/failure.ts";
import { type Finding, finding } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import type { Effect, Situation } from "../ports/operation.ts";
import { addPart, madeNow } from "./change.ts";

/** What a reviewer says of one finding. */
export interface Said {
  text: string;
  severity: Finding["severity"];
  kind?: Finding["kind"] | undefined;
  /** The repository it is about, where it is another than the one the reviewer stands in. */
  repo?: string | undefined;
  file?: string | undefined;
  line?: number | undefined;
  fix?: string | undefined;
}

/** What a reviewer looked at, for each finding. */
export interface Seen {
  places: readonly SeenPlace[];
}

export interface SeenPlace {
  repo: string | undefined;
  /** The tip of the task's branch there, wherever the reviewer stands. */
  tip: string | undefined;
  /** The text of the line that it is about. */
  text: string | undefined;
}

export interface KnownFindings extends Seen {
  task: string;
  plan: string;
  earlier: readonly Finding[];
  names: readonly string[];
}

/** The findings that are new, each with its id; those that are there already, open, at the same place, in the same words. */
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
    // Wherever the reviewer stands, it was seen on the task's branch.
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
