/** Why a tool may not run: the rule, the fact that broke it, and the way that is open. */
export interface Refusal {
  rule: string;
  fact: string;
  way: string;
  /** It does not hold for a path where scratch files may lie; whether it is one is asked only now. */
  unlessScratch?: string;
}

export const printRefusal = ({ rule, fact, way }: Refusal) => `Refused by pawl. ${rule} ${fact} ${way}`;
