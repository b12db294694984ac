import type { Problem } from "../../model/record.ts";
import type { Reader } from "../../ports/ports.ts";
import { readCandidates } from "./candidates.ts";
import { keywordsOf, mentionsIn } from "./keywords.ts";
import type { Look } from "./look.ts";
import { filesOf, type Own, readOwn } from "./own.ts";
import { type Related, relate, type Subject } from "./relate.ts";

/** All facts a packet is made of. */
export interface Facts {
  own: Own;
  files: string[];
  related: Related[];
  /** The tasks it depends on, and their status. */
  dependencies: { id: string; status: string }[];
  look: Look;
  problems: Problem[];
}

export function gatherFacts(reader: Reader, id: string, look: Look): Facts {
  const own = readOwn(reader, id);
  const files = filesOf(own, look.changed);
  const subject = subjectOf(own, files);
  const { surroundings, problems } = readCandidates(reader, subject, look);
  const statuses = new Map(reader.tasks().tasks.map((task) => [task.id, task.status]));
  return {
    own,
    files,
    look,
    related: relate(subject, surroundings),
    dependencies: own.task.depends_on.map((on) => ({ id: on, status: statuses.get(on) ?? "unreadable" })),
    problems: [...own.problems, ...problems],
  };
}

function subjectOf(own: Own, files: string[]): Subject {
  const { task } = own;
  const texts = [
    task.title,
    task.objective,
    task.plan,
    task.acceptance,
    task.notes,
    task.blocker ?? "",
    ...task.next,
    ...own.decisions.flatMap((one) => [one.what, one.why]),
    ...own.handoffs.flatMap((one) => [one.what, one.blocker, one.next]),
    ...own.findings.flatMap((one) => [one.text, one.fix, one.resolution]),
    ...own.reviews.map((one) => one.summary),
  ];
  return {
    id: task.id,
    keywords: keywordsOf(own),
    files,
    labels: task.labels,
    dependsOn: task.depends_on,
    mentions: mentionsIn(texts.join("\n")),
  };
}
