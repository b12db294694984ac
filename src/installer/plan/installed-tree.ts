import { join } from "node:path";
import { replaceFile } from "../../files/durable.ts";
import { bytesIfPresent, textIfPresent } from "../../files/read.ts";
import { LEDGER_FILE } from "../../model/paths.ts";
import { keptFile, type Work } from "../journal.ts";
import type { OwnPackage } from "../runtime/package.ts";
import { type Ledger, parseLedger, printLedger } from "./ledger.ts";
import { type Look, lookAt } from "./look.ts";
import { blocked, type Step } from "./steps.ts";

/** The worktree that files are written to, and the clone's own folder `<git common dir>/pawl`. */
export interface Tree {
  root: string;
  /** What records call the repository. */
  name(): string;
  local: string;
  /** The program that installs, where it was built. */
  package: OwnPackage | undefined;
  /** Tracked files that a sparse checkout leaves out: absent here, and yet the user's. */
  leftOut(): ReadonlySet<string>;
}

/** A copy of the last ledger, for when the tracked one was deleted: only it knows what in the tree is ours. */
const memoryOf = (local: string) => join(local, "installed.json");

export function readTrackedLedger({ root }: Tree): Ledger | undefined {
  const { text } = lookAt(root, LEDGER_FILE);
  // A power cut may leave it empty, as any new file of ours.
  return text === undefined || text === "" ? undefined : parseLedger(text);
}

export function readLedger(tree: Tree): Ledger | undefined {
  const tracked = readTrackedLedger(tree);
  if (tracked) return tracked;
  const memory = memoryOf(tree.local);
  const text = textIfPresent(memory);
  return text === undefined ? undefined : parseLedger(text, memory);
}

export function readKept(local: string, digest: string): Uint8Array | undefined {
  const path = keptFile(local, digest);
  return bytesIfPresent(path);
}

/** Looks once at each path, so that a plan is made from one picture. */
export function looker({ root, leftOut }: Tree): (path: string) => Look {
  const known = new Map<string, Look>();
  const hidden = leftOut();
  return (path) => {
    const look = known.get(path) ?? lookAt(root, path);
    if (look.bytes === undefined && hidden.has(look.real))
      look.blocked ??=
        "is tracked, but this sparse checkout leaves it out (git sparse-checkout add brings it)";
    known.set(path, look);
    return look;
  };
}

/** The ledger that says what the steps leave behind; undefined when nothing of ours is left. */
export function ledgerAfter(
  steps: readonly Step[],
  before: Ledger | undefined,
  header: Pick<Ledger, "pawl" | "package" | "repository" | "profile" | "agents" | "flags"> | undefined,
  folders: readonly string[],
): Ledger | undefined {
  const files = steps.flatMap((step) => (step.record ? [step.record] : []));
  if (!header) return undefined;
  const directories = [...new Set([...(before?.directories ?? []), ...folders])];
  return { schema: 1, ...header, directories, files };
}

/** Everything that the steps change. */
export function workOf(steps: readonly Step[], before: Ledger | undefined, after: Ledger | undefined): Work {
  const taking = steps.some((step) => step.do === "remove") || !after;
  return {
    folders: foldersOf(steps),
    changes: steps.flatMap((step) => step.changes ?? []),
    emptied: taking ? [...(before?.directories ?? [])] : [],
  };
}

export function foldersOf(steps: readonly Step[]): string[] {
  return [...new Set(steps.flatMap((step) => step.folders ?? []))].sort();
}

/**
 * The ledger's own step, after all others, so that it never speaks of what is not there yet. One that says the same in
 * another layout, such as another formatter's, is left as it is.
 */
export function ledgerStep(before: Ledger | undefined, after: Ledger | undefined, look: Look): Step {
  const { path, real, bytes, missing: folders } = look;
  if (look.blocked !== undefined) return blocked(look);
  if (!after) {
    if (bytes === undefined) return { do: "keep", path };
    return { do: "remove", path, changes: [{ path: real, before: bytes, after: undefined }] };
  }
  const text = printLedger(after);
  if (bytes?.length && before && printLedger(before) === text) return { do: "keep", path };
  const changes = [{ path: real, before: bytes, after: Buffer.from(text, "utf8") }];
  return { do: bytes === undefined ? "create" : "update", path, changes, folders };
}

export function rememberLedger(local: string, after: Ledger | undefined): void {
  if (!after) return;
  const text = printLedger(after);
  const memory = memoryOf(local);
  if (textIfPresent(memory) !== text) replaceFile(memory, text);
}
