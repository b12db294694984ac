import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { namesIfPresent } from "../files/read.ts";
import { Failure } from "../model/failure.ts";
import { type FullYaml, type Kind, parseRecord } from "../model/record.ts";
import { kindOfPath } from "../model/records/kind-of-path.ts";
import { touched } from "../model/records/parts.ts";
import { receipt, repository, run } from "../model/records/run.ts";
import { type Cursor, changedSince, cursorNow } from "./event-cursor.ts";
import { readRecordText } from "./files.ts";
import type { Home } from "./layout.ts";
import type { SearchDocument, SearchSource } from "./search/types.ts";

/** What the search index is made from: the records themselves, and the event logs that say which ones changed. */
export function openSource(home: Home, fullYaml: FullYaml | undefined): SearchSource {
  return {
    cursor: () => JSON.stringify(cursorNow(home)),
    changedSince: (cursor) => recordsChangedSince(home, cursor),
    scan: () => scan(home),
    read: (path) => readDocument(home, path, fullYaml),
  };
}

/** The cheap look: only the new part of the event logs is read. */
function recordsChangedSince(home: Home, cursor: string): { paths: string[]; cursor: string } | undefined {
  const tail = changedSince(home, JSON.parse(cursor) as Cursor);
  return (
    tail && { paths: [...tail.paths].filter((path) => kindOf(path)), cursor: JSON.stringify(tail.cursor) }
  );
}

function scan(home: Home): Map<string, string> {
  const found = new Map<string, string>();
  const add = (folder: string, names: string[]) => {
    for (const name of names) {
      const path = `${folder}/${name}`;
      if (!kindOf(path)) continue;
      const stat = statSync(join(home.state, path), { throwIfNoEntry: false });
      if (stat) found.set(path, signatureOf(stat));
    }
  };
  for (const folder of ["notes", "unlocks"]) add(folder, namesIfPresent(join(home.state, folder)));
  for (const name of namesIfPresent(join(home.state, "tasks"))) {
    const folder = `tasks/${name}`;
    for (const entry of entriesOf(join(home.state, folder)))
      if (entry.isDirectory()) {
        const names = namesIfPresent(join(home.state, folder, entry.name));
        add(
          `${folder}/${entry.name}`,
          entry.name === run.plural ? names.map((one) => `${one}/run.md`) : names,
        );
      } else add(folder, [entry.name]);
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

const signatureOf = (stat: Stats) => `${stat.ctimeMs} ${stat.size} ${stat.ino}`;

/** Nobody searches for what these say. */
const LEFT_OUT: readonly (Kind | undefined)[] = [receipt, touched, repository];

function kindOf(path: string): Kind | undefined {
  const kind = kindOfPath(path);
  return LEFT_OUT.includes(kind) ? undefined : kind;
}

function readDocument(home: Home, path: string, fullYaml: FullYaml | undefined): SearchDocument | undefined {
  const kind = kindOf(path);
  if (!kind) return undefined;
  let value: Record<string, unknown>;
  try {
    value = parseRecord(kind, path, readRecordText(home, path), fullYaml).value as Record<string, unknown>;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
  return describe(kind, path, value);
}

function describe(kind: Kind, path: string, value: Record<string, unknown>): SearchDocument {
  const sections = Object.keys(kind.sections).map((name) => String(value[name] ?? ""));
  const headline = typeof value.title === "string" ? value.title : (sections[0] ?? "");
  const fields = Object.entries(kind.fields)
    .filter(([name]) => !UNSEARCHED.has(name))
    .map(([name]) => words(value[name]));
  return {
    id: String(value.id),
    kind: kind.name,
    task: /^tasks\/(T\d+)\//.exec(path)?.[1] ?? null,
    status: typeof value.status === "string" ? value.status : null,
    title: headline.split("\n")[0]?.slice(0, 300) ?? "",
    text: [...sections, ...fields].filter(Boolean).join("\n"),
    updated: String(value.updated),
  };
}

/** Digests, counters and times are noise in a search for words. */
const UNSEARCHED = new Set([
  "id",
  "title",
  "status",
  "rev",
  "created",
  "updated",
  "repo",
  "actor",
  "commit",
  "branch",
  "base_branch",
  "line_sha256",
  "resolved_commit",
  "resolved_by",
  "integrated_commit",
  "slice",
  "by",
  "output_sha256",
  "output_bytes",
  "exit_code",
  "duration_ms",
  "tree",
  "head",
  "dirty",
  "unstable",
  "repos",
  "snapshots",
  "refreshed",
  "receipt",
  "how",
  "clone",
  "holder",
  "pid",
  "mode",
  "log",
  "tip",
  "moves",
  "until",
  "closed",
  "plan_digest",
  "profile",
  "archived",
  "reopened",
  "counts",
  "kind",
  "severity",
  "verdict",
]);

function words(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(words).join(" ");
  if (value && typeof value === "object") return words(Object.values(value));
  return typeof value === "number" ? String(value) : "";
}
