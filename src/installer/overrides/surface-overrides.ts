import * as z from "zod/mini";
import { Failure } from "../../model/failure.ts";
import { type Adapter, entry, type Surface } from "../adapter.ts";
import type { WantedFile } from "../adapters.ts";
import { digestOf, type Sha256 } from "../render/overrides.ts";

/** A user's own MCP registration or agent-side hooks: `.pawl/overrides/mcp.json` and `hooks.json`. */
const surfaceOverride = z.discriminatedUnion("mode", [
  z.strictObject({ mode: z.literal("disable"), upstream: z.string() }),
  z.strictObject({
    mode: z.literal("replace"),
    upstream: z.string(),
    /** What is written in place of ours, by file; a file that is not named here keeps ours, an empty list writes none. */
    files: z.record(z.string(), z.array(entry)),
  }),
]);

export type SurfaceOverride = z.output<typeof surfaceOverride> & { surface: Surface };

export interface SurfaceReport {
  surface: Surface;
  mode: SurfaceOverride["mode"];
  state: "applied" | "upstream_changed";
  /** What we would write now. */
  upstream: string;
}

export const surfaceOverridePath = (surface: Surface) => `.pawl/overrides/${surface}.json`;

export function readSurfaceOverride(
  surface: Surface,
  text: string,
  adapters: readonly Adapter[],
): SurfaceOverride {
  const file = surfaceOverridePath(surface);
  const broken = (why: string) =>
    new Failure("unreadable", "broken_override", `${file} cannot be used: ${why}.`, {
      hint: "Repair the file by hand; docs/skills.md shows an example.",
      details: { file },
    });
  const read = surfaceOverride.safeParse(parseOr(text));
  if (!read.success) throw broken(explain(read.error.issues[0]));
  const known = filesOf(surface, adapters).map(({ path }) => path);
  const named = read.data.mode === "replace" ? Object.keys(read.data.files) : [];
  const strange = named.find((path) => !known.includes(path));
  if (strange !== undefined) throw broken(`"${strange}" is not one of ${[...new Set(known)].join(", ")}`);
  return { ...read.data, surface };
}

/** What we would write for all agents, whichever are chosen: the text whose digest an override names. */
export function surfaceUpstream(surface: Surface, adapters: readonly Adapter[]): string {
  return `${JSON.stringify(Object.fromEntries(filesOf(surface, adapters).map(({ path, entries }) => [path, entries])), null, 2)}\n`;
}

export function applySurfaceOverrides(
  files: readonly WantedFile[],
  overrides: readonly SurfaceOverride[],
  adapters: readonly Adapter[],
  sha256: Sha256,
): { files: WantedFile[]; reports: SurfaceReport[] } {
  const reports = overrides.map(({ surface, mode, upstream }): SurfaceReport => {
    const now = surfaceUpstream(surface, adapters);
    const state = digestOf(now, sha256) === upstream ? "applied" : "upstream_changed";
    return { surface, mode, state, upstream: now };
  });
  return { files: files.flatMap((file) => override(file, overrides)), reports };
}

function override(file: WantedFile, overrides: readonly SurfaceOverride[]): WantedFile[] {
  if (file.mode !== "entry") return [file];
  const found = overrides.find(({ surface }) => surface === file.surface);
  if (!found) return [file];
  const entries = found.mode === "disable" ? [] : (found.files[file.path] ?? file.entries);
  return entries.length === 0 ? [] : [{ ...file, entries }];
}

function filesOf(surface: Surface, adapters: readonly Adapter[]) {
  return adapters
    .flatMap((adapter) => adapter.files)
    .filter((file) => file.mode === "entry")
    .filter((file) => file.surface === surface);
}

function explain(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === "unrecognized_keys") return `"${issue.keys.join('", "')}" is not an option here`;
  const at = issue?.path.join(".") ?? "";
  return at === "" ? "it is not JSON in the expected form" : `"${at}" is missing or malformed`;
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
