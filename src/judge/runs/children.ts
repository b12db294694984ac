import { taskOf } from "../../model/ids.ts";
import type { Settlement } from "../../model/records/attempt.ts";
import type { Run } from "../../model/records/run.ts";
import { run } from "../../model/records/run.ts";
import type { Reader } from "../../ports/ports.ts";
import { openAttempt } from "./standing.ts";
import { dollars, usageOf } from "./usage.ts";

/** The runs that a manager has started, as they are now. */
export function childrenOf(reader: Reader, { children }: Pick<Run, "children">): Run[] {
  return children.flatMap((id) => {
    const task = taskOf(id);
    if (!reader.hasTask(task)) return [];
    return reader
      .parts(run, task)
      .records.filter((one) => one.value.id === id)
      .map((one) => one.value);
  });
}

/** The settlement of the latest attempt; an earlier one does not count for it. */
export function settlementOf({
  settled,
  attempts,
}: Pick<Run, "settled" | "attempts">): Settlement | undefined {
  const last = settled.at(-1);
  return last?.attempt === attempts.at(-1)?.number ? last : undefined;
}

const DONE = { accept: "accepted", retry: "to be retried", abandon: "abandoned" } as const;

/** What is left to do about a run, and the command for it. */
export function leftOf(child: Run): { words: string; command: string } {
  const task = taskOf(child.id);
  if (openAttempt(child)) return { words: "at work", command: `pawl run wait ${child.id}` };
  const said = settlementOf(child);
  if (!said) return { words: "not settled", command: `pawl run log ${child.id}` };
  const words = DONE[said.outcome];
  if (said.outcome === "accept")
    return {
      words,
      command: child.role === "reviewer" ? `pawl check ${task} --stage close` : `pawl approve ${task}`,
    };
  if (said.outcome === "retry") return { words, command: `pawl run resume ${child.id}` };
  return { words, command: `pawl task show ${task}` };
}

/** How a run stands, in one line, from the records alone. */
export function childLine(child: Run): string {
  const { words, command } = leftOf(child);
  const reason = child.attempts.at(-1)?.reason;
  const { cost } = usageOf(child);
  const heads = child.repos.flatMap((one) => (one.head === undefined ? [] : [one.head.slice(0, 12)]));
  const facts = [
    `${child.id} ${child.agent} as ${child.role} ${child.status}${reason === undefined ? "" : ` (${reason})`}`,
    heads.length === 0 ? "" : `at ${heads.join(", ")}`,
    cost === undefined ? "" : dollars(cost),
    words,
  ];
  return `${facts.filter(Boolean).join(", ")}: ${command}`;
}
