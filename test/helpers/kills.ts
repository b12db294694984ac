import { expect, test } from "vitest";

/** A step of a job at which a test kills it, right before the step is taken. */
export interface Moment {
  /** Which step it is, counted from 1. */
  n: number;
  name: string;
}

export const momentsOf = (steps: readonly string[]): Moment[] =>
  steps.map((name, index) => ({ n: index + 1, name }));

/** Picks the moments of one tier among all, of which the `usual` ones are worth a kill before every push. */
type Choose = (all: readonly Moment[], usual?: (moment: Moment, index: number) => boolean) => Moment[];

interface Kills {
  /** The step that decides the job: a kill before it leaves nothing behind, a kill after it everything. */
  decided?: string;
  /** Kills the job at each moment that `choose` picks, and checks what every kill left. */
  kill(choose: Choose): Promise<void>;
  /** The job does what another one does, in another place or way: its kills come a tier later. */
  isVariant?: boolean;
  /** Some moments are not usual; `npm run long` kills there. */
  hasMore?: boolean;
}

const TIERS = [[], ["proof"], ["long"]];

/**
 * The same kills in tiers: `npm test` kills right before and right after the decision, `npm run proofs` at every other step.
 * Where no step decides, all are proofs.
 */
export function testKills(what: string, { decided, kill, isVariant = false, hasMore = false }: Kills): void {
  const pick = (
    tier: number,
    title: string,
    isPicked: (moment: Moment, usual: readonly Moment[]) => boolean,
  ) =>
    test(`${what}: ${title}`, { tags: TIERS[tier] ?? [], timeout: tier === 2 ? 3_600_000 : 600_000 }, () =>
      kill((all, isUsual = () => true) => {
        const usual = all.filter(isUsual);
        return all.filter((moment) => isPicked(moment, usual));
      }),
    );
  const around = (usual: readonly Moment[]) => {
    const at = usual.findIndex(({ name }) => name === decided);
    expect(usual[at + (at < 0 ? 0 : 1)], `"${decided}" is a step, with another after it`).toBeDefined();
    return usual.slice(at, at + 2);
  };
  const later = isVariant ? 1 : 0;
  if (decided === undefined) pick(1, "killed at every step", (one, usual) => usual.includes(one));
  else {
    pick(later, `killed right before and right after "${decided}"`, (one, usual) =>
      around(usual).includes(one),
    );
    pick(
      later + 1,
      "killed at every other step",
      (one, usual) => usual.includes(one) && !around(usual).includes(one),
    );
  }
  if (hasMore) pick(2, "killed at the steps of the store as well", (one, usual) => !usual.includes(one));
}

/** A few at a time: each of them starts processes of its own, and most machines have few cores. */
export async function each<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
  };
  await Promise.all([lane(), lane(), lane()]);
}
