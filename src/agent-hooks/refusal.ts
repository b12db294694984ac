/** Why a tool may not run: the rule, the fact that broke it, and the way that is open. */
export interface Refusal {
  rule: string;
  fact: string;
  way: string;
  /** It does not hold for a path that git ignores; whether it does is asked only now. */
  unlessIgnored?: string;
}

export const printRefusal = ({ rule, fact, way }: Refusal) => `Refused by pawl. ${rule} ${fact} ${way}`;
