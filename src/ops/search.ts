import * as z from "zod/mini";
import { parseTaskId } from "../model/ids.ts";
import { choice, count, flag, line, many, maybe, some } from "../model/input.ts";
import { FINDING_STATUSES } from "../model/records/parts.ts";
import { TASK_STATUSES } from "../model/records/task.ts";
import { firstLine, indent, plural, type Style } from "../model/text.ts";
import { operation } from "./operation.ts";

const KINDS = ["task", "decision", "evidence", "finding", "review", "handoff", "note"] as const;
const STATUSES = [...new Set([...TASK_STATUSES, ...FINDING_STATUSES])] as unknown as readonly [
  string,
  ...string[],
];

export const search = operation({
  id: "search",
  summary: "Find tasks, decisions, findings, evidence, handoffs and notes by their words",
  examples: [
    'pawl search "retry loop"',
    "pawl search upload --kind decision --kind note",
    "pawl search lock --status open",
  ],
  access: "read",
  cli: { positional: ["words"] },
  input: z.strictObject({
    words: some(line("the words to look for; all must occur", "WORDS", 20_000)),
    kind: many(choice(KINDS, "only this kind of record")),
    status: many(choice(STATUSES, "only records with this status")),
    task: maybe(line("only records of this task", "T", 40)),
    limit: maybe(count("at most this many (default: 20)")),
    any: flag("any of the words will do"),
  }),

  observe: (world, input) =>
    world.search({
      words: input.words.join(" "),
      ...(input.kind ? { kinds: input.kind } : {}),
      ...(input.status ? { statuses: input.status } : {}),
      ...(input.task ? { task: parseTaskId(input.task) } : {}),
      limit: input.limit ?? 20,
      match: input.any ? "any" : "all",
    }),

  gather: (_reader, _input, _at, found) => found,

  decide(input, { hits, total }) {
    return {
      data: { hits: hits.map((hit) => ({ ...hit, snippet: emphasise(hit.snippet) })), total },
      next:
        total > hits.length
          ? { command: `pawl search … --limit ${total}`, reason: `${total - hits.length} more matches` }
          : total === 0 && !input.any && input.words.join(" ").includes(" ")
            ? { command: "pawl search … --any", reason: "no record has all of these words" }
            : undefined,
    };
  },

  text: ({ hits, total }, style) =>
    total === 0
      ? "nothing found"
      : [
          ...hits.map(
            (hit) =>
              `${style.bold(hit.id)}  ${hit.kind}${hit.status ? `, ${hit.status}` : ""}  ${firstLine(hit.title, 80)}\n${indent(highlight(hit.snippet, style))}`,
          ),
          style.dim(plural(total, "record")),
        ].join("\n"),
});

/** The index marks what matched with control characters; people and agents read Markdown. */
const emphasise = (snippet: string) => snippet.replaceAll("\u0001", "**").replaceAll("\u0002", "**");

function highlight(snippet: string, style: Style): string {
  return snippet.replace(/\*\*(.+?)\*\*/g, (marked, match: string) => {
    const coloured = style.yellow(match);
    return coloured === match ? marked : coloured;
  });
}
