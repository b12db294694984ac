/**
 * Who works on a task, for everybody who shares a remote. It lets people and machines know of each other and nothing more:
 * whoever can push can write one, so that it permits nothing and explains nothing.
 */
export interface Claim {
  task: string;
  /** When the task was written down: two clones may have given the same id to two tasks. */
  created: string;
  holder: string;
  clone: string;
  machine: string;
  since: string;
  /** Whoever works renews it before; afterwards others may take the task over. */
  until: string;
  /** From whom it was taken over. */
  from: string | undefined;
}

export const CLAIMS = "refs/pawl/claims/";
export const claimRef = (task: string) => `${CLAIMS}${task}`;

const FIELDS = ["task", "created", "holder", "clone", "machine", "since", "until", "from"] as const;
const TIMES = ["created", "since", "until"] as const;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const LONGEST = 200;

/** The message of the empty commit that a claim is. */
export function claimText(claim: Claim): string {
  const lines = FIELDS.flatMap((name) => {
    const value = claim[name]?.replace(/\s+/g, " ").trim().slice(0, LONGEST);
    return value === undefined ? [] : [`${name}: ${value}`];
  });
  return `pawl claim ${claim.task}\n\n${lines.join("\n")}\n`;
}

/** Undefined for whatever else somebody put there. */
export function readClaim(task: string, text: string): Claim | undefined {
  const found = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, name, value] = /^([a-z]+): (.+)$/.exec(line) ?? [];
    if (name && value && value.length <= LONGEST) found.set(name, value);
  }
  const claim = Object.fromEntries(FIELDS.map((name) => [name, found.get(name)]));
  const isWhole = FIELDS.every((name) => name === "from" || claim[name] !== undefined);
  const isTimed = TIMES.every((name) => TIME.test(claim[name] ?? ""));
  return isWhole && isTimed && claim.task === task ? (claim as unknown as Claim) : undefined;
}

/** Minutes that a claim lasts: an agent's supervisor renews it, a person at work by hand does not have to. */
export const LEASE = { supervised: 30, byHand: 24 * 60 } as const;
/** How often a supervisor renews it. */
export const RENEW_MINUTES = 10;
