import { arch, release, type } from "node:os";
import { Git } from "../git/run-git.ts";
import { VERSION } from "../model/version.ts";
import type { Machine } from "../ports/ports.ts";
import type { Surroundings } from "./open.ts";

export async function readMachine({ cwd, env }: Surroundings): Promise<Machine> {
  const git = await Git.in("user", env, cwd).ask(["version"]);
  return {
    pawl: VERSION,
    node: process.versions.node,
    git: git.out.replace(/^git version /, "").trim(),
    system: `${type()} ${release()} ${arch()}`,
  };
}
