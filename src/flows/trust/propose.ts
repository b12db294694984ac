import { isPlain, type Way } from "../../judge/trust.ts";
import { isHuman } from "../../model/actor.ts";
import { localPath } from "../../model/remote-address.ts";
import { quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { readTrust, type TrustSituation } from "./read-trust.ts";
import type { TakenWay } from "./record-trust.ts";

export interface Proposal {
  /** Taken without a question: a human's own first installation, or what the policy has. */
  sure: Way[];
  /** For a human to say yes to. */
  open: Way[];
}

/** The remotes that an installation proposes to trust in this clone; none once it trusts any. */
export async function proposeRemotes(hands: Hands, site: Site): Promise<Proposal> {
  const situation = await readTrust(hands, site);
  const names = situation.remotes.filter((one) => one.standing === "unconfirmed").map((one) => one.name);
  const ways = situation.ways.filter((one) => names.includes(one.name));
  const { actor } = await hands.situation("write");
  const byHuman = hands.agent === undefined && isHuman(actor);
  const isSure = (way: Way) => isListed(way, situation) || (byHuman && isFirst(situation));
  return { sure: ways.filter(isSure), open: ways.filter((way) => !isSure(way)) };
}

/** Nobody has ever guarded this repository with this state: whoever could misuse the question could do without it. */
const isFirst = ({ record }: TrustSituation) =>
  record === undefined ||
  (record.baseline.length === 0 && record.guarded.length === 0 && record.trusted.length === 0);

/** The policy on the protected tip has this very address. */
const isListed = (way: Way, { policy }: TrustSituation) =>
  isPlain(way) && policy?.some((one) => one.name === way.name && one.address === way.address) === true;

export const describeWay = ({ name, address }: Way) => `${name} (${address})`;

/** What was said yes to without a word about guarding it is not guarded. */
export const asTaken = (ways: readonly Way[]): TakenWay[] => ways.map((way) => ({ way, guarded: false }));

export const unconfirmed = (way: Way) =>
  `Nobody has confirmed yet that ${describeWay(way)} is the right address, so no audit relies on it. A human can: pawl remote trust ${quoted(way.name)}`;

/** Those that the policy may name: paths of this machine stay out of it. */
export const publishable = (ways: readonly Way[]) =>
  ways
    .filter(({ address }) => localPath(address) === undefined)
    .map(({ name, address }) => ({ name, address }));
