import { type Doubt, doubts, eventsIn, type WriteEvent, type Written } from "../../judge/audit/witnesses.ts";
import { isAppendOnly } from "../../judge/gates/integrity.ts";
import { isEventLog } from "../../model/event-line.ts";
import { Failure } from "../../model/failure.ts";
import { repositoryFile } from "../../model/paths.ts";
import type { Problem } from "../../model/record.ts";
import { evidence, review } from "../../model/records/parts.ts";
import {
  type Approval,
  approval,
  type Receipt,
  type RepositoryRecord,
  receipt,
  repository,
  run,
} from "../../model/records/run.ts";
import { type Unlock, unlock } from "../../model/records/unlock.ts";
import type { ApprovedMerge } from "../../ports/audit-facts.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Site } from "../../ports/sites.ts";
import { type Formerly, readFormerly } from "./formerly.ts";

/** Everything that humans have recorded about protected branches. */
export interface Ledger {
  approvals: Approval[];
  unlocks: Unlock[];
  repositories: RepositoryRecord[];
  /**
   * Earlier versions of the repository records, as far back as the state's history goes, so that nobody can
   * replace a baseline.
   */
  earlier: RepositoryRecord[];
  /** Of approvals and unlocks only what was signed and published; empty for this clone's own state. */
  formerly: Formerly;
  /**
   * Commits that brought a task's work into its base without an approval, with the run's id; only from this
   * clone's own state.
   */
  requests: ReadonlyMap<string, string>;
  /** Records that cannot be read; nobody can say what they would explain. */
  problems: Problem[];
  /** The same records as text; `events` has what was logged about them. */
  written: Written[];
  events(): WriteEvent[];
  /**
   * Whether the record exists now. One written after the others were read has an event, but is not missing.
   */
  isThere(path: string): boolean;
  basis(): Basis;
}

/** What approvals are based on. */
interface Basis {
  receipts: Receipt[];
  /** The texts of evidence and reviews by path; nobody changes them once they are written. */
  proofs: ReadonlyMap<string, string>;
}

export function readLedger(reader: Reader): Ledger {
  const tasks = reader.exists ? reader.taskNames().filter((name) => /^T\d{4,}$/.test(name)) : [];
  const approvals = tasks.map((task) => reader.parts(approval, task));
  const [unlocks, repositories] = [reader.unlocks(), reader.repositories()];
  const values = <T>(found: { records: { value: T }[] }) => found.records.map((one) => one.value);
  const all = [...approvals, unlocks, repositories];
  const approved = tasks.filter((_task, index) => (approvals[index]?.records.length ?? 0) > 0);
  return {
    approvals: approvals.flatMap(values),
    unlocks: values(unlocks),
    repositories: values(repositories),
    earlier: [],
    formerly: { approvals: [], unlocks: [] },
    requests: requestsIn(
      reader,
      tasks.filter((_task, index) =>
        approvals[index]?.records.every((one) => one.value.status === "requested"),
      ),
    ),
    problems: all.flatMap((one) => one.problems),
    written: all.flatMap((one): Written[] => one.records),
    events: () => reader.events({ limit: Number.POSITIVE_INFINITY, about: isRecord }),
    isThere: (path) => reader.fileText(path) !== undefined,
    basis: () => basisOf(reader, approved),
  };
}

function basisOf(reader: Reader, tasks: readonly string[]): Basis {
  const proofs = tasks.flatMap((task) => [
    ...reader.parts(evidence, task).records,
    ...reader.parts(review, task).records,
  ]);
  return {
    receipts: tasks.flatMap((task) => reader.receipt(task)?.value ?? []),
    proofs: new Map(proofs.map((one) => [one.path, one.text])),
  };
}

function requestsIn(reader: Reader, tasks: readonly string[]): Map<string, string> {
  const runs = tasks.flatMap((task) => reader.parts(run, task).records.map((one) => one.value));
  const found = runs.flatMap(({ id, landed }) =>
    landed.flatMap(({ commits }) => commits.map((commit): [string, string] => [commit, id])),
  );
  return new Map(found);
}

const LEDGER_PATHS = [
  [/^tasks\/T\d{4,}\/approvals\/A\d+\.md$/, approval],
  [/^unlocks\/U\d{4,}\.md$/, unlock],
  [/^repos\/[^/]+\.md$/, repository],
] as const;
const RECEIPT = [/^tasks\/T\d{4,}\/receipt\.md$/, receipt] as const;

const isRecord = (path: string) => LEDGER_PATHS.some(([pattern]) => pattern.test(path));

export const isLedgerPath = (path: string) =>
  isRecord(path) || RECEIPT[0].test(path) || isAppendOnly(path) || isEventLog(path);

/** The same, from texts by path, which may come from a commit instead of a folder. */
export function parseLedger(
  reader: Reader,
  texts: ReadonlyMap<string, string | undefined>,
  shown: string,
): Ledger {
  const logs = [...texts].flatMap(([path, text]) => (isEventLog(path) && text !== undefined ? [text] : []));
  const proofs = [...texts].flatMap(([path, text]): [string, string][] =>
    isAppendOnly(path) && text !== undefined ? [[path, text]] : [],
  );
  const receipts: Receipt[] = [];
  const ledger: Ledger = {
    approvals: [],
    unlocks: [],
    repositories: [],
    earlier: [],
    formerly: { approvals: [], unlocks: [] },
    requests: new Map(),
    problems: [],
    written: [],
    events: () => logs.flatMap((text) => eventsIn(text, isRecord)),
    isThere: (path) => texts.has(path),
    basis: () => ({ receipts, proofs: new Map(proofs) }),
  };
  const { approvals, unlocks, repositories } = ledger;
  const keep = { approval: approvals, unlock: unlocks, repository: repositories, receipt: receipts };
  for (const [path, text] of texts) {
    const kind = [...LEDGER_PATHS, RECEIPT].find(([pattern]) => pattern.test(path))?.[1];
    if (!kind) continue;
    if (text === undefined) {
      ledger.problems.push({ file: path, message: `${shown}:${path} is not UTF-8 text.`, hint: undefined });
      continue;
    }
    try {
      const { value } = reader.parse(kind, path, text, `${shown}:${path}`);
      if (kind !== receipt) ledger.written.push({ path, text });
      (keep[kind.name as keyof typeof keep] as unknown[]).push(value);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      ledger.problems.push({ file: path, message: error.message, hint: error.hint });
    }
  }
  return ledger;
}

/**
 * Adds every version of the repository records in the state's history: of a commit, or of this clone's own
 * state. Of a commit, also the decisions that its records no longer have.
 */
export async function withHistory(
  hands: Hands,
  site: Site,
  ledger: Ledger,
  commit?: string | undefined,
): Promise<Ledger> {
  const versions = await (await hands.git.audits()).recordVersions(site, "repos", commit);
  const earlier = await hands.look((reader) =>
    versions.flatMap(({ path, text }): RepositoryRecord[] => {
      try {
        return [reader.parse(repository, path, text, path).value];
      } catch (error) {
        // A version that cannot be read has never explained anything.
        if (error instanceof Failure) return [];
        throw error;
      }
    }),
  );
  const formerly = commit === undefined ? ledger.formerly : await readFormerly(hands, site, ledger, commit);
  return { ...ledger, earlier, formerly };
}

/** Records that are not as pawl wrote them, so that they explain nothing. */
export async function notOurs({ sha256 }: Pick<Hands, "sha256">, ledger: Ledger): Promise<Doubt[]> {
  const digests = new Map<string, string>();
  for (const { path, text } of ledger.written) digests.set(path, await sha256(text));
  const found = doubts(digests, ledger.events());
  // Somebody may delete a record along with its events, but the state's history still has the record.
  const had = new Set(ledger.earlier.map((one) => repositoryFile(one.id)));
  const told = new Set([...digests.keys(), ...found.map((one) => one.path)]);
  const all = [...found, ...[...had].filter((path) => !told.has(path)).map(isMissing)];
  return all.filter((one) => one.why !== "missing" || !ledger.isThere(one.path));
}

const isMissing = (path: string): Doubt => ({ path, why: "missing" });

/** Every name that records use for a repository: the home's folder may have been renamed. */
export function namesOf(ledger: Ledger, site: { name: string; home: boolean }): ReadonlySet<string> {
  const known = site.home ? [...ledger.repositories, ...ledger.earlier].filter((one) => one.home) : [];
  return new Set([site.name, ...known.map((one) => one.id)]);
}

export function mergesOf(ledger: Ledger, names: ReadonlySet<string>, ref?: string): ApprovedMerge[] {
  return ledger.approvals.flatMap((one) => {
    const { status } = one;
    if (status === "requested") return [];
    return one.repos
      .filter((repo) => names.has(repo.name) && (ref === undefined || repo.ref === ref))
      .map(({ ref: target, old, onto, new: fresh, head, tree, style, pushed }) => ({
        id: one.id,
        status,
        again: one.redo_of !== undefined,
        ref: target,
        old,
        onto,
        new: fresh,
        head,
        tree,
        style,
        pushed,
        record: one,
      }));
  });
}

export interface Baseline {
  /**
   * Whatever all of these contain is older than the guard. There is one, unless a second was recorded later.
   */
  commits: string[];
  /** Where the branch was when this clone began to guard it. */
  begun: string[];
  /** When guarding began, if known. */
  at: string | undefined;
  /** Where the baseline comes from; `none`: nothing says what came before, so everything counts as older. */
  from: "recorded" | "first approval" | "none";
}

/** Where a branch's history starts to need explanations. */
export function baselineOf(
  ledger: Ledger,
  names: ReadonlySet<string>,
  ref: string,
  clones: ReadonlySet<string>,
): Baseline {
  const mine = [...ledger.repositories, ...ledger.earlier].filter((one) => names.has(one.id));
  const recorded = mine.flatMap((one) => one.baseline).filter((one) => one.ref === ref);
  if (recorded.length > 0) {
    // When another clone began to guard the branch says nothing about the moves in this one.
    const begun = mine.flatMap((one) => one.begun).filter((one) => one.ref === ref && clones.has(one.clone));
    const own = recorded.filter((one) => clones.has(one.clone ?? ""));
    const since = [begun, own, recorded].find((list) => list.length > 0) ?? [];
    const times = since.flatMap((one) => one.at ?? []).sort();
    const commits = [...new Set(recorded.map((one) => one.commit))];
    return { commits, begun: begun.map((one) => one.commit), at: times[0], from: "recorded" };
  }
  const [first] = ledger.approvals
    .filter((one) => one.status === "merged" && one.redo_of === undefined)
    .filter((one) => one.repos.some((repo) => names.has(repo.name) && repo.ref === ref))
    .sort((a, b) => (a.created < b.created ? -1 : 1));
  const merge = first?.repos.find((repo) => names.has(repo.name) && repo.ref === ref);
  if (first && merge) return { commits: [merge.old], begun: [], at: first.created, from: "first approval" };
  return { commits: [], begun: [], at: undefined, from: "none" };
}
