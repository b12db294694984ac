import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fullYaml } from "../../src/model/markdown/full-yaml.ts";
import { type Kind, parseRecord } from "../../src/model/record.ts";
import { note, TASK_PARTS, touched } from "../../src/model/records/parts.ts";
import { approval, receipt, repository, run } from "../../src/model/records/run.ts";
import { task } from "../../src/model/records/task.ts";

export interface FoundRecord {
  id: string;
  kind: string;
  path: string;
  rev: number;
  value: Record<string, unknown>;
}

/** Everything a store may be guilty of; each entry says which file or record. */
export interface Violations {
  /** Records and event lines that cannot be read. */
  torn: string[];
  /** Two records that claim one id, or one that claims another's place. */
  duplicateIds: string[];
  /** Revisions without an event. */
  missingEvents: string[];
  /** Revisions with two events, and events of what does not exist. */
  surplusEvents: string[];
  /** Journals, intents and rescued files: work that nobody finished. */
  leftOver: string[];
}

export interface Inspection {
  records: FoundRecord[];
  violations: Violations;
}

const FOLDERS = new Map<string, Kind>([...TASK_PARTS, approval].map((kind) => [kind.plural, kind as Kind]));

/** Reads a whole store as a stranger would, from the files alone, and trusts nothing. */
export function inspectStore(state: string): Inspection {
  const violations: Violations = {
    torn: [],
    duplicateIds: [],
    missingEvents: [],
    surplusEvents: [],
    leftOver: findLeftOvers(state),
  };
  const records = readRecords(state, violations);
  compareWithEvents(state, records, violations);
  return { records, violations };
}

/** Non-empty complaints only, so that a failing assertion shows what was found and nothing else. */
export function complaintsOf(violations: Violations): Record<string, string[]> {
  return Object.fromEntries(Object.entries(violations).filter(([, found]) => found.length > 0));
}

function readRecords(state: string, violations: Violations): FoundRecord[] {
  const records: FoundRecord[] = [];
  const owners = new Map<string, string>();
  for (const path of filesIn(state)) {
    const expected = describePath(path);
    if (!expected) {
      // A patch belongs to its run, and has no record of its own.
      if (!/^events\/|\/runs\/R\d+\/[^/]+\.patch$/.test(path)) violations.leftOver.push(path);
      continue;
    }
    let value: Record<string, unknown>;
    try {
      const text = readFileSync(join(state, path), "utf8");
      value = parseRecord(expected.kind, path, text, fullYaml).value as Record<string, unknown>;
    } catch (error) {
      violations.torn.push(`${path}: ${(error as Error).message}`);
      continue;
    }
    const id = String(value.id);
    if (id !== expected.id || owners.has(id)) violations.duplicateIds.push(`${id} in ${path}`);
    owners.set(id, path);
    records.push({ id, kind: expected.kind.name, path, rev: Number(value.rev), value });
  }
  return records;
}

function describePath(path: string): { kind: Kind; id: string } | undefined {
  const [top, name = "", folder, part] = path.split("/");
  if (top === "notes" && /^N\d{4,}\.md$/.test(name)) return { kind: note, id: name.slice(0, -3) };
  if (top === "repos" && folder === undefined) return { kind: repository, id: name.slice(0, -3) };
  if (top !== "tasks" || !/^T\d{4,}$/.test(name)) return undefined;
  if (folder === "task.md") return { kind: task, id: name };
  if (folder === "receipt.md") return { kind: receipt, id: `${name}/receipt` };
  if (folder === "runs" && path.endsWith("/run.md")) return { kind: run, id: `${name}/${part}` };
  if (folder === "touched") return { kind: touched, id: `${name}/touched/${part?.slice(0, -3)}` };
  const kind = FOLDERS.get(folder ?? "");
  if (!kind || !new RegExp(`^${kind.letter}\\d+\\.md$`).test(part ?? "")) return undefined;
  return { kind, id: `${name}/${part?.slice(0, -3)}` };
}

function compareWithEvents(state: string, records: FoundRecord[], violations: Violations): void {
  const counts = countEvents(state, violations);
  for (const { id, rev } of records)
    for (let one = 1; one <= rev; one++) {
      const name = `${id}@${one}`;
      const count = counts.get(name) ?? 0;
      if (count === 0) violations.missingEvents.push(name);
      if (count > 1) violations.surplusEvents.push(`${name} ${count} times`);
      counts.delete(name);
    }
  violations.surplusEvents.push(...counts.keys());
}

function countEvents(state: string, violations: Violations): Map<string, number> {
  const counts = new Map<string, number>();
  const logs = filesIn(join(state, "events"));
  for (const path of logs)
    for (const line of readFileSync(join(state, "events", path), "utf8").split("\n")) {
      if (line === "") continue;
      try {
        const { record, path: about } = JSON.parse(line) as { record: string; path: string };
        // Patches, logs and what checks printed belong to a record whose own event is there.
        if (!about.endsWith(".md")) continue;
        counts.set(record, (counts.get(record) ?? 0) + 1);
      } catch {
        violations.torn.push(`events/${path}: ${line.slice(0, 80)}`);
      }
    }
  return counts;
}

/** Staged files are not among them: a kill may leave one, it is in nobody's way, and it is swept by its age. */
function findLeftOvers(state: string): string[] {
  return ["journal", "lock", "rescued"].flatMap((folder) =>
    filesIn(join(state, ".local", folder)).map((name) => `.local/${folder}/${name}`),
  );
}

/** Paths of all files below a folder, without what belongs to git or to this machine alone. */
function filesIn(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return names.flatMap((name) => {
    if (name === ".git" || name === ".local") return [];
    if (!statSync(join(folder, name)).isDirectory()) return [name];
    return filesIn(join(folder, name)).map((path) => `${name}/${path}`);
  });
}
