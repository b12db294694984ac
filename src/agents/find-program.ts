import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram, isProgram } from "../files/find-program.ts";
import { jsonIfReadable } from "../files/read.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import type { AgentProgram } from "./program.ts";

export interface FoundProgram {
  path: string;
  version: string | undefined;
  /** Folders that belong on its PATH. */
  paths: string[];
}

interface Machine {
  platform: string;
  arch: string;
}

const TRIPLES: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
};

/** The program that the user would start, as the native one where npm put a script in front of it. */
export function findAgentProgram(
  program: AgentProgram,
  env: Environment,
  /** Where a relative path of the project's own command begins. */
  base: string,
  machine: Machine,
): FoundProgram | undefined {
  const started = findProgram(program.bin, base, env.PATH);
  if (started === undefined) return undefined;
  const real = realpathSync(started);
  const folder = dirname(real);
  const native = program.natives.map((one) => join(folder, filled(one, machine))).find(isProgram);
  const path = native ?? started;
  return {
    path,
    version: program.manifest === "" ? undefined : versionIn(join(folder, program.manifest)),
    paths: native === undefined ? [] : program.paths.map((one) => join(dirname(native), one)),
  };
}

function filled(template: string, { platform, arch }: Machine): string {
  return template
    .replaceAll("{os}", platform)
    .replaceAll("{cpu}", arch)
    .replaceAll("{triple}", TRIPLES[`${platform}-${arch}`] ?? "unknown");
}

/** Told by the package, because asking the program itself takes it up to a second. */
function versionIn(manifest: string): string | undefined {
  const version = jsonIfReadable<{ version?: unknown }>(manifest)?.version;
  return typeof version === "string" ? version : undefined;
}

export function programMissing(program: AgentProgram): Failure {
  return new Failure("not_found", "agent_missing", `${program.title} is not installed here.`, {
    hint: `\`${program.bin}\` is not on the PATH. Install it and log in once, then run this again.`,
    details: { agent: program.name, program: program.bin },
  });
}
