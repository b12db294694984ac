import { checksOf, jsonObject, matchesName, objectIn, type ProjectLook, type Proposed } from "./kinds.ts";

/** What npm writes into every new package, and what nobody meant as a test. */
const NO_TEST = /no test specified|^\s*(?:exit 0|true|:)?\s*$/;
/** A check must leave the tree as it is, and must end. */
const CHANGES_FILES = /--(?:fix|write|apply|watch(?:All)?)\b/;

const TYPES = ["typecheck", "type-check", "check-types", "check:types", "types:check", "types", "tsc"];

export function javascript(look: ProjectLook): Proposed | undefined {
  const text = look.read("package.json");
  if (text === undefined) return undefined;
  const manifest = jsonObject(text);
  const scripts = objectIn(manifest.scripts);
  const usable = (name: string) => {
    const script = scripts[name];
    return typeof script === "string" && !NO_TEST.test(script) && !CHANGES_FILES.test(script);
  };
  const manager = packageManager(look, manifest);
  const run = (name: string | undefined) => {
    if (name === undefined || !usable(name)) return undefined;
    return name === "test"
      ? `${manager} ${manager === "bun" ? "run test" : "test"}`
      : `${manager} run ${name}`;
  };
  const found = checksOf({
    test: run(["test", "test:ci", "test:unit", "check"].find(usable)),
    lint: run(["lint", "lint:check"].find(usable)),
    types: run(TYPES.find(usable)),
  });
  // Where nothing else is checked, a build that succeeds says something.
  const checks = Object.keys(found).length > 0 ? found : checksOf({ build: run("build") });
  const setup = hasDependencies(manifest) ? INSTALL[manager]?.(look) : undefined;
  const proposed = { tool: "npm", from: "package.json", checks, explicit: true };
  return setup === undefined ? proposed : { ...proposed, setup };
}

function packageManager(look: ProjectLook, manifest: Record<string, unknown>): string {
  const named = /^(npm|pnpm|yarn|bun)@/.exec(String(manifest.packageManager ?? ""))?.[1];
  if (named !== undefined) return named;
  if (look.names.has("pnpm-lock.yaml")) return "pnpm";
  if (look.names.has("yarn.lock")) return "yarn";
  return look.names.has("bun.lock") || look.names.has("bun.lockb") ? "bun" : "npm";
}

const hasDependencies = (manifest: Record<string, unknown>) =>
  manifest.workspaces !== undefined ||
  ["dependencies", "devDependencies", "optionalDependencies"].some(
    (key) => Object.keys(objectIn(manifest[key])).length > 0,
  );

/** Exactly what the lock file says; without one, no lock file is left behind. */
const INSTALL: Record<string, (look: ProjectLook) => string> = {
  npm: ({ names }) =>
    names.has("package-lock.json") || names.has("npm-shrinkwrap.json")
      ? "npm ci"
      : "npm install --no-package-lock",
  pnpm: ({ names }) =>
    names.has("pnpm-lock.yaml") ? "pnpm install --frozen-lockfile" : "pnpm install --no-lockfile",
  yarn: ({ names }) =>
    names.has(".yarnrc.yml")
      ? "yarn install --immutable"
      : names.has("yarn.lock")
        ? "yarn install --frozen-lockfile"
        : "yarn install --no-lockfile",
  bun: ({ names }) =>
    names.has("bun.lock") || names.has("bun.lockb")
      ? "bun install --frozen-lockfile"
      : "bun install --no-save",
};

export function deno(look: ProjectLook): Proposed | undefined {
  const from = matchesName(look, /^deno\.jsonc?$/);
  if (from === undefined) return undefined;
  const tasks = objectIn(jsonObject(look.read(from)).tasks);
  const checks = checksOf({
    test: tasks.test === undefined ? "deno test" : "deno task test",
    lint: tasks.lint === undefined ? undefined : "deno task lint",
  });
  return { tool: "deno", from, checks, explicit: tasks.test !== undefined };
}

export function php(look: ProjectLook): Proposed | undefined {
  const text = look.read("composer.json");
  if (text === undefined) return undefined;
  const scripts = objectIn(jsonObject(text).scripts);
  const run = (name: string) => (scripts[name] === undefined ? undefined : `composer run-script ${name}`);
  const unit = matchesName(look, /^phpunit\.xml(?:\.dist)?$/) ? "vendor/bin/phpunit" : undefined;
  const pest = look.list("tests").includes("Pest.php") ? "vendor/bin/pest" : undefined;
  const stan = matchesName(look, /^phpstan\.(?:neon|neon\.dist|dist\.neon)$/)
    ? "vendor/bin/phpstan analyse"
    : undefined;
  return {
    tool: "composer",
    from: "composer.json",
    checks: checksOf({ test: run("test") ?? pest ?? unit, lint: run("lint"), types: run("phpstan") ?? stan }),
    setup: "composer install --no-interaction",
    explicit: scripts.test !== undefined,
  };
}

const TARGET = /^([A-Za-z][\w.-]*)\s*:(?!=)/gm;

/** Targets of a Makefile, recipes of a justfile, tasks of a Taskfile. */
export function targets(look: ProjectLook): Proposed | undefined {
  const make = matchesName(look, /^(?:GNUm|M|m)akefile$/);
  const just = matchesName(look, /^\.?justfile$/i);
  const task = matchesName(look, /^Taskfile\.ya?ml$/);
  const ways = [
    { from: make, runs: "make", named: TARGET },
    { from: just, runs: "just", named: /^@?([A-Za-z][\w-]*)[^:=\n]*:(?!=)/gm },
    { from: task, runs: "task", named: /^ {2}([A-Za-z][\w-]*):/gm },
  ];
  for (const { from, runs, named } of ways) {
    if (from === undefined) continue;
    const known = new Set([...(look.read(from) ?? "").matchAll(named)].map(([, name]) => name));
    const first = (...names: string[]) => {
      const name = names.find((one) => known.has(one));
      return name === undefined ? undefined : `${runs} ${name}`;
    };
    const checks = checksOf({ test: first("test", "tests", "check"), lint: first("lint") });
    if (checks.test !== undefined) return { tool: runs, from, checks, explicit: true };
  }
  return undefined;
}
