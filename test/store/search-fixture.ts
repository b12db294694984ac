import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SearchDocument, SearchSource } from "../../src/store/search/types.ts";

/** Records as small real files: one header line of JSON, then the text. Writes through `put` leave a journal entry. */
export class Records implements SearchSource {
  readonly root: string;
  readonly counts = { scan: 0, read: 0 };
  private readonly journal: string;

  constructor(root: string) {
    this.root = root;
    this.journal = join(root, "journal.log");
    mkdirSync(join(root, "records"), { recursive: true });
  }

  put(path: string, document: SearchDocument): void {
    this.editByHand(path, document);
    appendFileSync(this.journal, `${path}\n`);
  }

  remove(path: string): void {
    rmSync(join(this.root, "records", path));
    appendFileSync(this.journal, `${path}\n`);
  }

  editByHand(path: string, document: SearchDocument): void {
    const file = join(this.root, "records", path);
    mkdirSync(dirname(file), { recursive: true });
    const { text, ...header } = document;
    const temporary = join(this.root, `.${process.pid}-${Math.random()}`);
    writeFileSync(temporary, `${JSON.stringify(header)}\n${text}`);
    renameSync(temporary, file);
  }

  cursor(): string {
    return String(statSync(this.journal, { throwIfNoEntry: false })?.size ?? 0);
  }

  changedSince(cursor: string): { paths: string[]; cursor: string } | undefined {
    const now = this.cursor();
    if (now === cursor) return { paths: [], cursor };
    if (Number(now) < Number(cursor)) return undefined;
    const added = readFileSync(this.journal).subarray(Number(cursor), Number(now)).toString("utf8");
    return { paths: added.split("\n").filter(Boolean), cursor: now };
  }

  scan(): Map<string, string> {
    this.counts.scan++;
    const found = new Map<string, string>();
    const walk = (folder: string) => {
      for (const entry of readdirSync(join(this.root, "records", folder), { withFileTypes: true })) {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) walk(path);
        else {
          const stat = statSync(join(this.root, "records", path), { throwIfNoEntry: false });
          if (stat) found.set(path, `${stat.ctimeMs} ${stat.size} ${stat.ino}`);
        }
      }
    };
    walk("");
    return found;
  }

  read(path: string): SearchDocument | undefined {
    this.counts.read++;
    try {
      const text = readFileSync(join(this.root, "records", path), "utf8");
      const end = text.indexOf("\n");
      return { ...JSON.parse(text.slice(0, end)), text: text.slice(end + 1) };
    } catch {
      return undefined;
    }
  }
}

/** A temporary directory whose path has a space, as every test uses. */
export function makeHome(): string {
  const home = join(mkdtempSync(join(tmpdir(), "pawl search ")), "home with space");
  mkdirSync(home);
  return home;
}

export function document(
  id: string,
  title: string,
  text = "",
  more: Partial<SearchDocument> = {},
): SearchDocument {
  return {
    id,
    kind: "task",
    task: id.split("/")[0] ?? null,
    status: "open",
    title,
    text,
    updated: "2026-11-16T00:00:00Z",
    ...more,
  };
}

/** Everything below `dir`, to see what killed processes left behind. */
export function leftOvers(dir: string): string[] {
  return readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => name.includes(".build-") || name.startsWith("readers/"));
}
