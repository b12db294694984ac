import { join } from "node:path";
import { AGENT_SIGNS } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import { replaceFile } from "./durable.ts";
import { jsonIfReadable, realpathOr } from "./read.ts";

/**
 * Where a human's tools are: version managers, virtual environments and language homes all work by these. And what tests
 * go by: who runs them, in which language and time zone, whether it is CI, which certificates are believed. A check gets
 * them as they were when a human installed pawl, so that nobody chooses by a variable which `npm` is asked, or how.
 */
const OF_TOOLS = new RegExp(
  `^(?:${[
    "PATH|HOME|XDG_(?:CONFIG|DATA|CACHE|STATE)_HOME",
    "NVM_(?:DIR|BIN|INC)|FNM_\\w+|VOLTA_HOME|N_PREFIX|PNPM_HOME|BUN_INSTALL|DENO_(?:DIR|INSTALL)",
    "VIRTUAL_ENV|CONDA_(?:PREFIX|DEFAULT_ENV|EXE)|PYENV_(?:ROOT|VERSION)|ASDF_\\w+|MISE_\\w+|NIX_\\w+|HOMEBREW_\\w+",
    "JAVA_HOME|JDK_HOME|SDKMAN_\\w+|GRADLE_(?:HOME|USER_HOME)|M2_HOME|MAVEN_HOME|ANDROID_(?:HOME|SDK_ROOT)|DOTNET_ROOT",
    "RBENV_(?:ROOT|VERSION)|rvm_\\w+|GEM_(?:HOME|PATH)|GO(?:PATH|ROOT|BIN|CACHE|MODCACHE)|CARGO_HOME|RUSTUP_(?:HOME|TOOLCHAIN)",
    "LANG|LANGUAGE|LC_\\w+|TZ|USER|LOGNAME|CI|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE",
  ].join("|")})$`,
);

/** What has to be the caller's, because a sandbox allows no other: the place for temporary files, and the way to the network. */
const OF_THE_CALL = new RegExp(
  `^(?:${[
    "TMPDIR|TEMP|TMP|(?:HTTPS?|ALL|NO)_PROXY|(?:https?|all|no)_proxy",
    "PAWL_(?:RUN|TASK|AGENT|SESSION|ATTEMPT)",
  ].join("|")})$`,
);

const fileIn = (local: string) => join(local, "environment.json");

/** Npm puts folders of its own before everything else whenever it runs something; they belong to no shell. */
const OF_NPM = /\/node_modules\/(?:\.bin|.*\/node-gyp-bin)\/?$|\/_npx\//;

/** Only whole paths: what an empty or a relative entry means depends on where one stands. */
const plainPath = (path: string) =>
  path
    .split(":")
    .filter((one) => one.startsWith("/") && !OF_NPM.test(one))
    // fnm gives every shell a link of its own, which goes with the shell; what it leads to stays.
    .map((one) => (one.includes("fnm_multishells") ? realpathOr(one) : one))
    .join(":");

function chosen(env: Environment, wanted: (name: string) => boolean): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && wanted(name)) found[name] = value;
  return found;
}

function toolsIn(env: Environment): Record<string, string> {
  const tools = chosen(env, (name) => OF_TOOLS.test(name));
  return { ...tools, PATH: plainPath(env.PATH ?? "") };
}

/** Keeps this environment for the checks of a clone, in its own folder; false when that is the one it has. */
export function keepEnvironment(local: string, env: Environment, when: "always" | "first"): boolean {
  const [kept, tools] = [readKept(local), toolsIn(env)];
  if (kept && (when === "first" || print(kept) === print(tools))) return false;
  replaceFile(fileIn(local), print(tools));
  return true;
}

const print = (variables: Record<string, string>) =>
  `${JSON.stringify(Object.fromEntries(Object.entries(variables).sort()), undefined, 2)}\n`;

function readKept(local: string): Record<string, string> | undefined {
  const found = jsonIfReadable<Record<string, unknown>>(fileIn(local));
  if (typeof found?.PATH !== "string") return undefined;
  return chosen(found as Record<string, string>, (name) => typeof found[name] === "string");
}

export interface CheckEnvironment {
  variables: Record<string, string>;
  kept: boolean;
}

/** What a check runs with: the kept tools, little of the caller, and what the policy adds. */
export function environmentForChecks(
  local: string,
  env: Environment,
  policy: Readonly<Record<string, string>>,
): CheckEnvironment {
  const kept = readKept(local);
  const caller = chosen(env, (name) => OF_THE_CALL.test(name) || AGENT_SIGNS.includes(name));
  const variables = { ...caller, ...(kept ?? toolsIn(env)) };
  for (const [name, value] of Object.entries(policy)) {
    const wanted = value === "" ? env[name] : value;
    if (wanted !== undefined) variables[name] = wanted;
  }
  return { variables, kept: kept !== undefined };
}

export interface Difference {
  name: string;
  kept: string | undefined;
  here: string | undefined;
}

/** What this shell has otherwise than the kept environment; undefined where none is kept. */
export function differences(local: string, env: Environment): Difference[] | undefined {
  const kept = readKept(local);
  if (!kept) return undefined;
  const here = toolsIn(env);
  return [...new Set([...Object.keys(kept), ...Object.keys(here)])]
    .filter((name) => kept[name] !== here[name])
    .map((name) => ({ name, kept: kept[name], here: here[name] }));
}

/** Folders that checks look for programs in and this shell does not. Whoever can write the kept file can add one. */
export function foreignFolders(local: string, env: Environment): string[] {
  const own = new Set((env.PATH ?? "").split(":").flatMap((one) => [one, plainPath(one)]));
  return (readKept(local)?.PATH ?? "").split(":").filter((one) => one !== "" && !own.has(one));
}
