import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { textIfReadable } from "../files/read.ts";
import { sessionsFolder } from "../files/sessions.ts";
import { sessionFile } from "../model/naming.ts";

/**
 * What was said to a session already, so that it is said once: a few lines in `<git common dir>/pawl/sessions/<id>`.
 * Where nothing can be written nothing is said, because it could not be said once.
 */
export interface Marks {
  /** When the session began, in milliseconds; undefined when nobody saw it. */
  began: number | undefined;
  has(mark: string): boolean;
  /** False when it could not be written down. */
  add(mark: string): boolean;
}

const KEPT_MS = 30 * 24 * 3_600_000;

export function openMarks(commonDir: string, session: string): Marks {
  const file = join(sessionsFolder(commonDir), sessionFile(session));
  const lines = new Set((textIfReadable(file) ?? "").split("\n"));
  const began = [...lines].find((line) => line.startsWith("began "));
  return {
    began: began === undefined ? undefined : Number(began.split(" ")[1]),
    has: (mark) => lines.has(mark),
    add(mark) {
      try {
        mkdirSync(dirname(file), { recursive: true });
        appendFileSync(file, `${mark}\n`);
        lines.add(mark);
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** Sessions end without telling; their marks go when nobody can want them any more. */
export function sweepMarks(commonDir: string, now: number): void {
  const folder = sessionsFolder(commonDir);
  try {
    for (const name of readdirSync(folder))
      if (now - statSync(join(folder, name)).mtimeMs > KEPT_MS) rmSync(join(folder, name), { force: true });
  } catch {
    // There is none yet, or another session is sweeping.
  }
}
