import { textOf } from "../../git/cat-file.ts";
import type { BothTips, Comparison, Divergence, TakenTwice } from "../../ports/state-exchange.ts";
import type { StateRepository } from "./state-basics.ts";
import { isAncestor, type Listing, listFiles, mergeBases, readContents } from "./state-objects.ts";

/**
 * What theirs has that ours has not. A file that is missing on one side was never deleted by us, since no record ever
 * is; so it is taken from the other side, whatever the history says.
 */
export async function compareStates(repo: StateRepository, tips: BothTips): Promise<Comparison> {
  const { ours, theirs } = tips;
  const nothing = { ...tips, incoming: [], diverged: [], takenTwice: [] };
  if (theirs === undefined || ours === theirs) return nothing;
  if (ours !== undefined && (await isAncestor(repo, theirs, ours))) return nothing;
  const [mine, other] = [ours ? await listFiles(repo, ours) : new Map(), await listFiles(repo, theirs)];
  const bases = ours ? await mergeBases(repo, ours, theirs) : [];
  const known = await Promise.all(bases.map((base) => listFiles(repo, base)));
  const sides = { mine, other, known };
  const takenTwice = await findTakenTwice(repo, sides);
  const apart = new Set(takenTwice.map((one) => one.task));
  const paths = [...other.keys()].filter((path) => !apart.has(taskOf(path) ?? ""));
  const differing = paths.filter((path) => mine.get(path) !== other.get(path));
  const isIncoming = (path: string) =>
    !mine.has(path) || (known.length > 0 && known.every((base) => base.get(path) === mine.get(path)));
  const isOutgoing = (path: string) =>
    known.length > 0 && known.every((base) => base.get(path) === other.get(path));
  const incoming = differing.filter(isIncoming);
  const both = differing.filter((path) => !isIncoming(path) && !isOutgoing(path));
  const comparison = { ...tips, incoming, takenTwice, diverged: await readBoth(repo, both, sides) };
  compared.set(comparison, { mine, other });
  return comparison;
}

/** What both sides hold, as it was read for a comparison; only whoever puts it in place needs it again. */
const compared = new WeakMap<Comparison, { mine: Listing; other: Listing }>();

export function filesOf(comparison: Comparison): { mine: Listing; other: Listing } {
  return compared.get(comparison) ?? { mine: new Map(), other: new Map() };
}

interface Sides {
  mine: Listing;
  other: Listing;
  known: Listing[];
}

const taskOf = (path: string) => /^tasks\/([^/]+)\//.exec(path)?.[1];

async function readBoth(repo: StateRepository, paths: string[], sides: Sides): Promise<Divergence[]> {
  const { mine, other, known } = sides;
  const base = (path: string) => (known.length === 1 ? known[0]?.get(path) : undefined);
  const ids = paths.flatMap((path) =>
    [mine.get(path), other.get(path), base(path)].flatMap((id) => id ?? []),
  );
  const contents = ids.length > 0 ? await readContents(repo, ids) : new Map<string, Buffer>();
  const text = (id: string | undefined) => (id === undefined ? undefined : textOf(contents.get(id)));
  return paths.map((path) => ({
    path,
    base: text(base(path)),
    ours: text(mine.get(path)),
    theirs: text(other.get(path)),
    fresh: known.length === 0 ? undefined : known.every((one) => !one.has(path)),
  }));
}

/** Two tasks under one id, made on two machines, are told apart by when and by whom they were made. */
async function findTakenTwice(repo: StateRepository, { mine, other, known }: Sides): Promise<TakenTwice[]> {
  const files = [...other.keys()].filter(
    (path) => /^tasks\/[^/]+\/task\.md$/.test(path) && mine.has(path) && mine.get(path) !== other.get(path),
  );
  if (files.length === 0) return [];
  const all = [mine, other, ...known].flatMap((side) => files.flatMap((path) => side.get(path) ?? []));
  const contents = await readContents(repo, all);
  const maker = (side: Listing, path: string) => makerOf(textOf(contents.get(side.get(path) ?? "")));
  return files.flatMap((path) => {
    const [a, b] = [maker(mine, path), maker(other, path)];
    if (a === b || a === undefined || b === undefined) return [];
    const task = taskOf(path) ?? "";
    const settled = (side: Listing, who: string) =>
      known.length > 0 && known.every((base) => maker(base, path) === who && isSameFolder(base, side, task));
    return [{ task, by: settled(mine, a) ? "theirs" : settled(other, b) ? "ours" : "both" } as const];
  });
}

const makerOf = (text: string | undefined) =>
  text && `${/^created: (.*)$/m.exec(text)?.[1]} ${/^actor: (.*)$/m.exec(text)?.[1]}`;

function isSameFolder(a: Listing, b: Listing, task: string): boolean {
  const below = (side: Listing) =>
    JSON.stringify([...side].filter(([path]) => taskOf(path) === task).sort(([x], [y]) => (x < y ? -1 : 1)));
  return below(a) === below(b);
}
