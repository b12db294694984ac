import type { Run } from "../../model/records/run.ts";

export interface UsageTotal {
  input: number;
  cached: number;
  output: number;
  turns: number;
  /** In US dollars; undefined if no attempt's cost is known. */
  cost: number | undefined;
  /** Where the cost comes from; `unknown` if an attempt that used tokens has no cost. */
  source: "reported" | "computed" | "unknown";
}

/** What all attempts of a run used together. */
export function usageOf({ attempts }: Pick<Run, "attempts">): UsageTotal {
  const sum = (values: readonly (number | undefined)[]) =>
    values.reduce<number>((total, one) => total + (one ?? 0), 0);
  const known = attempts.filter((one) => one.cost !== undefined);
  const used = attempts.filter((one) => (one.output_tokens ?? 0) > 0);
  const isKnown = known.length > 0 && used.every((one) => one.cost !== undefined);
  return {
    input: sum(attempts.map((one) => one.input_tokens)),
    cached: sum(attempts.map((one) => one.cached_tokens)),
    output: sum(attempts.map((one) => one.output_tokens)),
    turns: sum(attempts.map((one) => one.turns)),
    cost: known.length === 0 ? undefined : sum(known.map((one) => Number(one.cost))),
    source: !isKnown
      ? "unknown"
      : known.some((one) => one.cost_from === "computed")
        ? "computed"
        : "reported",
  };
}

/** What earlier attempts used in this conversation: some programs report totals since its beginning. */
export function usedInSession({ attempts }: Pick<Run, "attempts">, session: string | undefined) {
  const same = session === undefined ? [] : attempts.filter((one) => one.session === session);
  const { input, cached, output } = usageOf({ attempts: same });
  return { input, cached, output };
}

export function dollars(amount: number): string {
  if (amount > 0 && amount < 0.0005) return "< $0.001";
  return `$${amount < 0.995 ? amount.toFixed(3) : amount.toFixed(2)}`;
}

const KILO = 1_000;
/** 1234 tokens are 1.2k. */
export const short = (count: number) =>
  count < KILO
    ? String(count)
    : count < KILO * KILO
      ? `${(count / KILO).toFixed(1)}k`
      : `${(count / KILO / KILO).toFixed(1)}M`;
