import { Failure } from "../../model/failure.ts";
import { positionOf } from "./text-style.ts";
import type { EntryFile } from "./types.ts";

export function unreadable(file: EntryFile, text: string, offset: number, reason: string): Failure {
  const { line, column } = positionOf(text, offset);
  return new Failure(
    "unreadable",
    "file_unreadable",
    `${file.path} is not readable as JSON: line ${line}, column ${column}: ${reason}. It was left as it is.`,
    {
      hint: `Correct ${file.path} at line ${line}, then run the same command again.`,
      details: { path: file.path, line, column },
    },
  );
}

/** Something of the user's is where our container would have to be. */
export function wrongContainer(
  file: EntryFile,
  text: string,
  at: { path: readonly string[]; offset: number; is: string; wanted: string },
): Failure {
  const { line, column } = positionOf(text, at.offset);
  const name = at.path.length > 0 ? `\`${at.path.join(".")}\`` : "the whole file";
  return new Failure(
    "refused",
    "container_of_another_type",
    `${file.path}, line ${line}, column ${column}: ${name} is ${at.is}, but it has to be ${at.wanted}. It was left as it is.`,
    {
      hint: `Make ${name} ${at.wanted} in ${file.path}, then run the same command again.`,
      details: { path: file.path, line, column, at: [...at.path] },
    },
  );
}

export function definedTwice(
  file: EntryFile,
  text: string,
  path: readonly string[],
  offset: number,
): Failure {
  const { line, column } = positionOf(text, offset);
  return new Failure(
    "refused",
    "key_defined_twice",
    `${file.path}, line ${line}, column ${column}: \`${path.join(".")}\` appears twice, so pawl cannot tell which one counts. It was left as it is.`,
    {
      hint: `Remove one of the two in ${file.path}, then run the same command again.`,
      details: { path: file.path, line, column, at: [...path] },
    },
  );
}

export function takenByUser(file: EntryFile, text: string, path: readonly string[], offset: number): Failure {
  const { line, column } = positionOf(text, offset);
  return new Failure(
    "refused",
    "entry_taken",
    `${file.path}, line ${line}, column ${column}: \`${path.join(".")}\` already exists with another value. It was left as it is.`,
    {
      hint: `Rename or remove \`${path.join(".")}\` in ${file.path}, then run the same command again.`,
      details: { path: file.path, line, column, at: [...path] },
    },
  );
}

/** What we are about to hand out would not be what it must be: a bug of ours, found before anything is written. */
export function damaged(file: EntryFile): Failure {
  return new Failure(
    "internal",
    "edit_would_damage",
    `Changing ${file.path} would have damaged it. It was left as it is.`,
  );
}
