import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../model/environment.ts";
import type { Site } from "../../ports/sites.ts";
import { askGit, expectGit, type GitAnswer, scrubbed } from "../run-git.ts";

/** Where objects are while a server's hook decides about a push: they are not yet part of the repository. */
const QUARANTINE = ["GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"];

/** Settings for single commands: an agent's shell may use them to switch hooks off for every git it starts. */
const SINGLE = /^GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)$/;

export const withoutOverrides = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SINGLE.test(name)));

/** Git that shows commits as their objects are: no replacements, no grafts, no cache of who descends from whom. */
export interface PlainGit {
  site: Site;
  env: Environment;
  ask(args: readonly string[], stdin?: string, extra?: Record<string, string>): Promise<GitAnswer>;
  must(args: readonly string[], stdin?: string): Promise<string>;
  /** For what is not sure to be text. */
  bytes(args: readonly string[], stdin: string): Promise<Buffer>;
}

const LIMIT = 2 ** 30;

export function plainGit(site: Site, env: Environment): PlainGit {
  const nowhere = (name: string) => join(site.commonDir, "pawl", name);
  const kept = QUARANTINE.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const words = (args: readonly string[]) => [
    "--no-replace-objects",
    "-c",
    "core.commitGraph=false",
    ...args,
  ];
  const own = () => ({
    ...Object.fromEntries(kept),
    GIT_DIR: site.commonDir,
    GIT_GRAFT_FILE: nowhere("no-grafts"),
    ...(existsSync(join(site.commonDir, "shallow")) ? { GIT_SHALLOW_FILE: nowhere("no-shallow") } : {}),
  });
  const ask: PlainGit["ask"] = (args, stdin = "", extra = {}) =>
    askGit(words(args), {
      cwd: site.commonDir,
      env: withoutOverrides(env),
      stdin,
      extra: { ...own(), ...extra },
    });
  const what = `The history of ${site.name} could not be read`;
  return {
    site,
    env,
    ask,
    must: async (args, stdin) => expectGit(await ask(args, stdin), what),
    bytes: (args, stdin) =>
      new Promise((done, fail) => {
        const child = execFile(
          "git",
          words(args),
          {
            cwd: site.commonDir,
            env: scrubbed(withoutOverrides(env), own()),
            maxBuffer: LIMIT,
            encoding: "buffer",
          },
          (error, out) => (error ? fail(error) : done(out)),
        );
        child.stdin?.on("error", () => {});
        child.stdin?.end(stdin);
      }),
  };
}
