import { Failure } from "../../model/failure.ts";
import { indent, plural } from "../../model/text.ts";
import type { FileStep, Installation, SurfaceRequest } from "../../ports/installation.ts";
import { refuseAnother, refuseOlder } from "./versions.ts";

export const PROFILES = ["all", "hooks", "skills", "state"] as const;
export type Profile = (typeof PROFILES)[number];

/** Flags that have a question of their own. */
export const VENDOR = "vendor";
export const ALLOW = "allow";

export interface InstallInput {
  target?: string | undefined;
  agents?: string | undefined;
  with?: string | undefined;
  vendor?: boolean | undefined;
  profile?: Profile | undefined;
  commit?: boolean | undefined;
  force?: boolean | undefined;
  yes?: boolean | undefined;
}

/** What is to be in the tracked files; undefined when this profile has none. An install adds and takes nothing away. */
export function requestOf(installation: Installation, input: InstallInput): SurfaceRequest | undefined {
  const { profile = "all", force = false } = input;
  const { known } = installation;
  const agents = namesIn(input.agents, "agents", known.agents);
  const flags = namesIn(input.with, "with", known.flags);
  if (profile !== "all" && profile !== "skills") return undefined;
  if (!installation.hasFiles)
    throw new Failure(
      "refused",
      "no_worktree",
      "This is a bare repository; there are no files to install into.",
      {
        hint: "Run it in one of its worktrees, or install only the guard: pawl install --profile hooks",
      },
    );
  const before = installation.installed();
  refuseOlder(installation, before);
  refuseAnother(installation, before);
  if (input.vendor && installation.package === undefined) throw notBuilt();
  return {
    profile: before?.profile === "all" ? "all" : profile,
    agents: united(before?.agents ?? [], agents ?? (before ? [] : known.usual), known.agents),
    flags: united(before?.flags ?? [], [...(flags ?? []), ...(input.vendor ? [VENDOR] : [])], known.flags),
    force,
    lenient: false,
  };
}

const notBuilt = () =>
  new Failure("refused", "not_built", "This pawl runs from its sources, so there is no package to keep.", {
    hint: "Make one with `npm run pack` in pawl's own repository and install from it.",
    details: { field: "vendor" },
  });

export function namesIn(
  text: string | undefined,
  field: string,
  known: readonly string[],
): string[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(/[\s,]+/).filter(Boolean);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined && names.length > 0) return names;
  throw new Failure("usage", "unknown_name", `"${wrong ?? text}" is not one that pawl knows.`, {
    hint: `Write it like this: --${field} ${known.join(",")}`,
    details: { field, known },
  });
}

const united = (one: readonly string[], other: readonly string[], order: readonly string[]) =>
  order.filter((name) => one.includes(name) || other.includes(name));

/** The steps that change a file; one that is in the way refuses them all. */
export function changesIn(steps: readonly FileStep[]): { do: string; path: string }[] {
  refuseObstacles(steps);
  return steps.flatMap(({ do: what, path }) =>
    what === "create" || what === "update" || what === "remove" ? [{ do: what, path }] : [],
  );
}

/** What a dry run says of the clone's copy of the program. */
export function missingCopy(installation: Installation): { do: string; path: string }[] {
  const { length } = installation.missingRuntime();
  return length > 0 ? [{ do: "copy", path: `pawl's program (${plural(length, "file")})` }] : [];
}

/** One file in the way stops everything, before anything is written. */
export function refuseObstacles(steps: readonly FileStep[]): void {
  const refused = steps.filter((one) => one.do === "refuse");
  const [first] = refused;
  if (!first) return;
  const told = refused.map(({ path, why, diff }) =>
    [`${path}: ${why}`, ...(diff ? [indent(diff)] : [])].join("\n"),
  );
  const hints = [...new Set(refused.map((one) => one.how).filter((one) => one))];
  throw new Failure(
    "refused",
    "files_in_the_way",
    `Nothing was written, because of ${plural(refused.length, "file")}.\n${told.join("\n")}`,
    {
      hint: hints.join("\n"),
      details: { files: refused.map(({ path, why, how, diff }) => ({ path, why, how, diff })) },
    },
  );
}
