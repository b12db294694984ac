import { madeNow } from "../../judge/change.ts";
import { withTrusted } from "../../judge/trust.ts";
import { branchOfRef } from "../../model/naming.ts";
import { repositoryFile } from "../../model/paths.ts";
import { cameLater } from "../../model/protection.ts";
import { editRecord, printRecord } from "../../model/record.ts";
import { type RepositoryRecord, repository, type TrustedRoute, UNGUARDED } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

export interface Guarded {
  /** The repository's name in records. */
  name: string;
  home: boolean;
  /** The protected branches with their tips; a branch that has a baseline keeps it. */
  tips: readonly { ref: string; commit: string }[];
  /** Names and patterns of protected branches. */
  patterns?: readonly string[];
  /** Whether the hooks are in place in this clone; false for a baseline without a guard. */
  active: boolean;
  /** Remotes that this clone trusts from now on. */
  trusted?: readonly Omit<TrustedRoute, "clone">[];
}

/**
 * Records what the protected branches contain now; every later commit needs an explanation. Safe to repeat: a
 * branch keeps the baseline that it has.
 */
export async function recordBaseline(hands: Hands, guarded: Guarded): Promise<RepositoryRecord> {
  const plan = await hands.record((reader, at) => noteBaseline(reader, at, guarded), {
    milestone: `${guarded.name}: guarded from here on`,
  });
  return plan.data;
}

function noteBaseline(reader: Reader, at: Situation, guarded: Guarded): Plan<RepositoryRecord> {
  const stored = findRecord(reader, guarded);
  const known: Pick<RepositoryRecord, "baseline" | "begun" | "protects" | "guarded" | "trusted"> =
    stored?.value ?? UNGUARDED;
  const isRecorded = (ref: string) => known.baseline.some((one) => one.ref === ref);
  const missing = guarded.tips.filter(({ ref }) => !isRecorded(ref) && !cameLater(ref, known));
  const baseline = [
    ...known.baseline,
    ...missing.map((tip) => ({ ...tip, at: at.now, clone: at.clone || undefined })),
  ];
  // A clone without a name, such as a copied one, gets one with this write, and then this function runs
  // again.
  const clone = at.clone || "unnamed";
  const isNew = guarded.active && !known.guarded.includes(clone);
  const clones = isNew ? [...known.guarded, clone] : known.guarded;
  const fresh = guarded.tips.filter(
    (tip) => guarded.active && !known.begun.some((one) => one.clone === clone && one.ref === tip.ref),
  );
  const begun = [...known.begun, ...fresh.map(({ ref, commit }) => ({ clone, ref, commit, at: at.now }))];
  const protects = [...new Set([...known.protects, ...(guarded.patterns ?? [])])];
  const trusted = withTrusted(known.trusted, clone, guarded.trusted ?? []);
  const about = `baseline of ${missing.map((one) => branchOfRef(one.ref)).join(", ") || "nothing new"}`;
  if (!stored) {
    const { name: id, home } = guarded;
    const value = {
      ...madeNow(at),
      id,
      home,
      base_branch: undefined,
      ...UNGUARDED,
      baseline,
      begun,
      protects,
      guarded: clones,
      trusted,
    };
    const text = printRecord(repository, value);
    return {
      data: value,
      effects: [{ do: "create", record: id, rev: 1, path: repositoryFile(id), text, about }],
    };
  }
  const isKnown = protects.length === known.protects.length && trusted === known.trusted;
  if (missing.length + fresh.length === 0 && !isNew && isKnown) return { data: stored.value };
  const changes = {
    baseline,
    begun,
    protects,
    guarded: clones,
    trusted,
    rev: stored.value.rev + 1,
    updated: at.now,
  };
  const { path, text: before } = stored;
  const text = editRecord(repository, stored, changes);
  return {
    data: { ...stored.value, ...changes },
    effects: [{ do: "replace", record: stored.value.id, rev: changes.rev, path, before, text, about }],
  };
}

/** Finds the home's record even after its folder was renamed. */
export function findRecord(reader: Reader, { name, home }: Pick<Guarded, "name" | "home">) {
  const { records } = reader.repositories();
  return records.find((one) => one.value.id === name) ?? records.find((one) => home && one.value.home);
}

/** Records that this clone no longer guards the repository, so that nobody reports its hooks as missing. */
export async function recordUnguarded(hands: Hands, site: Pick<Guarded, "name" | "home">): Promise<void> {
  await hands.record((reader, at) => {
    const stored = findRecord(reader, site);
    if (!stored?.value.guarded.includes(at.clone)) return { data: undefined };
    const guarded = stored.value.guarded.filter((one) => one !== at.clone);
    const changes = { guarded, rev: stored.value.rev + 1, updated: at.now };
    const { path, text: before } = stored;
    const text = editRecord(repository, stored, changes);
    const about = "no longer guarded in this clone";
    return {
      data: undefined,
      effects: [{ do: "replace", record: stored.value.id, rev: changes.rev, path, before, text, about }],
    };
  });
}
