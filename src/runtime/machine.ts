import { arch, release, type } from "node:os";
import type { Machine } from "../core/ports.ts";
import { VERSION } from "../core/version.ts";
import { askGit } from "../git/run-git.ts";
import type { Surroundings } from "./open.ts";

export async function readMachine({ cwd, env }: Surroundings): Promise<Machine> {
  const git = await askGit(["version"], { cwd, env });
  return {
    pawl: VERSION,
    node: process.versions.node,
    git: git.out.replace(/^git version /, "").trim(),
    system: `${type()} ${release()} ${arch()}`,
  };
}
