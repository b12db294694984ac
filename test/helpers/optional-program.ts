import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where programs lie that tests need and that are no dependencies of ours; they are fetched or built once. */
export const testPrograms = () =>
  process.env.PAWL_TEST_PROGRAMS ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "pawl-test-programs");

/**
 * What to add to the name of a proof that is skipped because this machine lacks a program. Where everything has to be run
 * (CI=true, as in .ci/run) there is no such name: a proof that was skipped there would count as passed.
 */
export function notRun(isThere: boolean, program: string): string {
  if (isThere) return "";
  const why = `not run: no ${program} on this machine`;
  const isProof = !["check", "test"].includes(process.env.PAWL_TEST_TIER ?? "");
  if (isProof && process.env.CI === "true" && process.platform === "linux")
    throw new Error(`${why}, and CI=true says that it has to be. scripts/install-test-tools.mjs --system`);
  return ` (${why})`;
}

const versionOf = (git: string) =>
  /\d+\.\d+/.exec(spawnSync(git, ["--version"], { encoding: "utf8" }).stdout ?? "")?.[0] ?? "0.0";

const reaches = (version: string, wanted: string) => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
};

export interface TestGit {
  /** The folder to begin the PATH with; undefined for the git that is on it anyway. */
  folder: string | undefined;
  version: string;
  isSince(version: string): boolean;
}

const open = (folder: string | undefined): TestGit => {
  const version = versionOf(folder === undefined ? "git" : join(folder, "git"));
  return { folder, version, isSince: (wanted) => reaches(version, wanted) };
};

export const systemGit = open(undefined);

/** A git with everything new that we know of: the machine's own, or what scripts/build-newer-git.mjs made. */
export function newerGit(): TestGit | undefined {
  if (systemGit.isSince("2.54")) return systemGit;
  const folder = join(testPrograms(), "git", "bin");
  return existsSync(join(folder, "git")) ? open(folder) : undefined;
}
