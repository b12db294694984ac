import { execFileSync } from "node:child_process";
import { makeRepository, type TemporaryRepository } from "../helpers/temporary-repository.ts";

/** A repository into which the built program has installed itself, as a user would do it. */
export function installedRepository(pawl: string, folder: string, ...args: string[]): TemporaryRepository {
  const repository = makeRepository(folder);
  const { path, env } = repository;
  execFileSync(process.execPath, [pawl, "install", "--yes", ...args], { cwd: path, env, stdio: "pipe" });
  return repository;
}
