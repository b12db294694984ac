/** What the n-th operation of a worker is, so that a worker can go on after a kill and a verifier knows what to expect. */
export interface Planned {
  operation: string;
  input: Record<string, unknown>;
  /** A text that this operation alone leaves in the store. */
  mark: string;
  /** The task whose notes get the mark, by compare-and-swap with an explicit rev. */
  appendTo?: string;
}

/** A third creates, a third changes shared tasks (by the retry inside, and by a rev that may lose), a third appends. */
export function planOf(worker: number, index: number, shared: readonly string[]): Planned {
  const mark = `w${worker}-${index}`;
  const task = shared[(worker + index) % shared.length] ?? "";
  const round = Math.floor(index / 3);
  switch (index % 3) {
    case 0:
      return { mark, operation: "task.new", input: { title: mark, objective: "made under pressure" } };
    case 1:
      return round % 2 === 0
        ? { mark, operation: "slice.open", input: { task, title: mark } }
        : { mark, operation: "task.update", input: { task }, appendTo: task };
    default:
      return { mark, ...appended(round, task, mark) };
  }
}

function appended(round: number, task: string, mark: string): Omit<Planned, "mark"> {
  switch (round % 4) {
    case 0:
      return { operation: "decide", input: { task, what: mark, why: "to be counted" } };
    case 1:
      return { operation: "finding.add", input: { task, text: mark, severity: "low" } };
    case 2:
      return { operation: "handoff", input: { task, what: mark, next: "count it" } };
    default:
      return { operation: "note.add", input: { title: mark } };
  }
}
