import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/**
 * Where the system would find it; undefined for what only a shell knows. An empty entry of the path does not count: it
 * means wherever one stands, so that whoever can write there would choose the program.
 */
export function findProgram(name: string, cwd: string, path = ""): string | undefined {
  if (name === "") return undefined;
  const folders = path.split(delimiter).filter((one) => one !== "");
  const places = name.includes("/") ? [resolve(cwd, name)] : folders.map((one) => join(one, name));
  return places.find(isProgram);
}

/** Whether the system would run it. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const SHELL_LINE = /^(?:\s*\w+=\S*\s+)*\s*([\w./+@-]+)/;

/** What a line for a shell begins with, after the variables that it sets; empty where that is no plain word. */
export const programIn = (line: string): string => SHELL_LINE.exec(line)?.[1] ?? "";

/** Words that need no program of their own. */
const IN_THE_SHELL: ReadonlySet<string> = new Set(
  "cd test exec export set unset eval . source command if for while until case trap umask ulimit".split(" "),
);

/** Programs that lines for a shell begin with and that are nowhere on the path; what a shell makes up as it goes is left out. */
export function missingPrograms(lines: readonly string[], cwd: string, path: string | undefined): string[] {
  const names = lines.flatMap((line) => {
    const parts = /["'`\\]/.test(line) ? [line] : line.split("&&");
    // After a `cd` a name with a slash means another file.
    return parts.map(programIn).filter((name, at) => at === 0 || !name.includes("/"));
  });
  return [...new Set(names)].filter(
    (one) => one !== "" && !IN_THE_SHELL.has(one) && findProgram(one, cwd, path) === undefined,
  );
}
