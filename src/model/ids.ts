import { Failure } from "./failure.ts";

const TASK_LOOSE = /^t?0*(\d{1,9})$/i;
const PART = /^([a-z])0*(\d{1,9})$/i;

/** At least four digits, so that ids sort and align as text up to 9,999. */
export function formatTaskId(number: number): string {
  return `T${String(number).padStart(4, "0")}`;
}

export function formatNoteId(number: number): string {
  return `N${String(number).padStart(4, "0")}`;
}

export function formatUnlockId(number: number): string {
  return `U${String(number).padStart(4, "0")}`;
}

/** People type `T7`, `t0007` or `7`; records and JSON always say `T0007`. */
export function parseTaskId(text: string, field = "task"): string {
  const match = TASK_LOOSE.exec(text.trim());
  if (!match || Number(match[1]) === 0)
    throw new Failure("usage", "bad_task_id", `"${shorten(text)}" is not a task id.`, {
      hint: "A task id looks like T0007 or T7. `pawl task list` shows them.",
      details: { field },
    });
  return formatTaskId(Number(match[1]));
}

/** `F3` inside a task, or `T0007/F3` from anywhere. */
export interface PartRef {
  task: string | undefined;
  part: string;
}

export function parsePartRef(text: string, letter: string, field: string): PartRef {
  const [left, right, ...rest] = text.trim().split("/");
  const part = PART.exec((right ?? left ?? "").trim());
  if (rest.length > 0 || !part || part[1]?.toUpperCase() !== letter || Number(part[2]) === 0)
    throw new Failure("usage", "bad_record_id", `"${shorten(text)}" is not an id of this kind.`, {
      hint: `Write ${letter}1, or T0007/${letter}1 from outside the task.`,
      details: { field },
    });
  return {
    task: right === undefined ? undefined : parseTaskId(left ?? ""),
    part: `${letter}${Number(part[2])}`,
  };
}

/** The task that a record belongs to: `T0007` for `T0007/F3`, and for the task itself. */
export const taskOf = (id: string): string => id.replace(/\/.*$/s, "");

/** What a record is called inside its task: `F3` for `T0007/F3`, and for `F3` itself. */
export const partOf = (id: string): string => id.slice(id.indexOf("/") + 1);

/** The number behind the letter: 12 for `T0012`, `F12` and `T0001/F12`. */
export function idNumber(id: string): number {
  return Number(/(\d+)$/.exec(id)?.[1] ?? 0);
}

/** Finds the next free number among names such as `D3.md` or `T0012`; names of another form are ignored. */
export function nextNumber(names: readonly string[], letter: string): number {
  let highest = 0;
  for (const name of names) {
    const match = /^([A-Z])(\d+)(?:\.md)?$/.exec(name);
    if (match?.[1] === letter) highest = Math.max(highest, Number(match[2]));
  }
  return highest + 1;
}

export function shorten(text: string, limit = 60): string {
  const line = /\s\s|^\s|\s$|[^\S ]/.test(text) ? text.replace(/\s+/g, " ").trim() : text;
  // A character outside the basic plane is two units long; half of one is no text.
  return line.length <= limit ? line : `${line.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
