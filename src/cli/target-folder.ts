import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Failure } from "../model/failure.ts";
import type { Io } from "./main.ts";

/** What aims git at a repository; a folder that was named outright is meant instead. */
const AIMING = new Set(["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"]);

/** The same surroundings, seen from a folder that the command line names. */
export function seenFrom(io: Io, folder: unknown): Pick<Io, "cwd" | "env"> {
  if (typeof folder !== "string") return { cwd: io.cwd, env: io.env };
  const cwd = resolve(io.cwd, folder);
  // A folder that is not there must not stand for the repository around it.
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new Failure("not_found", "no_folder", `There is no folder ${folder}.`, {
      details: { field: "target" },
    });
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !AIMING.has(name)));
  return { cwd, env };
}
