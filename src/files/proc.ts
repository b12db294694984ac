import { closeSync, openSync, readSync } from "node:fs";

/* What the kernel shows of processes. `folder` is one's own in /proc, where there is such a thing; elsewhere nothing is told. */

export interface ProcessStat {
  /** What the process is called. */
  program: string;
  state: string;
  parent: number;
  /** Of its group and of its session; each is the first process of it, and may have ended. */
  leaders: number[];
  startTime: string | undefined;
}

export function statOf(folder: string): ProcessStat | undefined {
  const text = procText(`${folder}/stat`) ?? "";
  // A program may be called whatever it likes, spaces and brackets included, so fields count from the last bracket.
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  const [state = "", parent = "", ...leaders] = fields.slice(0, 4);
  if (state === "") return undefined;
  return {
    program: text.slice(text.indexOf("(") + 1, end),
    state,
    parent: Number(parent),
    leaders: leaders.map(Number),
    startTime: fields[19],
  };
}

/** It has ended, and only waits for its parent to ask how. */
export const hasEnded = ({ state }: ProcessStat) => "ZXx".includes(state);

/** The system does not say how long these files are, and whoever asks `readFileSync` for such a one waits twice as long. */
export function procText(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    part ??= Buffer.alloc(16_384);
    let text = "";
    for (let size = readSync(file, part); size > 0; size = readSync(file, part))
      text += part.toString("latin1", 0, size);
    return text;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

let part: Buffer | undefined;
