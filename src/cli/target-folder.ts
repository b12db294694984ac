import { resolve } from "node:path";
import { isFolder } from "../files/read.ts";
import { Failure } from "../model/failure.ts";
import { aimsGit } from "../model/git-variables.ts";
import type { Io } from "./main.ts";

/** The same surroundings, seen from a folder that the command line names: it is meant, whatever the caller's git is aimed at. */
export function seenFrom(io: Io, folder: unknown): Pick<Io, "cwd" | "env"> {
  if (typeof folder !== "string") return { cwd: io.cwd, env: io.env };
  const cwd = resolve(io.cwd, folder);
  // A folder that is not there must not stand for the repository around it.
  if (!isFolder(cwd))
    throw new Failure("not_found", "no_folder", `There is no folder ${folder}.`, {
      details: { field: "target" },
    });
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !aimsGit(name)));
  return { cwd, env };
}
