import type { Keys } from "../../judge/keys.ts";
import type { RemoteTrust } from "../../judge/trust.ts";
import { Failure } from "../../model/failure.ts";
import type { CommitFact } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { CheckSignature, Signatures } from "../../ports/signatures.ts";
import type { Site } from "../../ports/sites.ts";
import { type KeyTexts, readKeys } from "../trust/read-keys.ts";
import type { Ledger } from "./ledger.ts";

/** How thorough an audit is, and what it looks at. */
interface Manner {
  /**
   * `here`: a clone that people work in. `published`: only what a remote or a server has, judged by the
   * records alone.
   */
  view: "here" | "published";
  /** Ask the remotes. */
  ask: boolean;
  /** The names of this machine's clones in records: only their logs can be read here. */
  clones: ReadonlySet<string>;
}

export interface Subject {
  site: Site;
  names: ReadonlySet<string>;
  ledger: Ledger;
  manner: Manner;
  /** How far each remote of this clone is trusted; empty where only what is published counts. */
  remotes: readonly RemoteTrust[];
  /** The commits from which a human says the keys are trusted; a branch goes by the one that it has. */
  roots?: readonly string[] | undefined;
  /** What an older branch demands of a branch made later. */
  older?: Keys | undefined;
  readKeys(texts: KeyTexts): Promise<Keys>;
  checkSignature: CheckSignature;
  checkAhead: Signatures["checkAhead"];
}

export const noState = (site: Site) =>
  new Failure("unavailable", "no_state", "The records are not here: there is no branch pawl/state.", {
    hint: `Fetch it: git fetch origin +refs/heads/pawl/state:${site.mainRoot === undefined ? "refs/heads" : "refs/remotes/origin"}/pawl/state. \`pawl sync\` publishes it.`,
    details: { repo: site.name },
  });

/** What every subject needs to judge signatures. */
export async function judgingSignatures(
  hands: Hands,
): Promise<Pick<Subject, "readKeys" | "checkSignature" | "checkAhead">> {
  const { check, checkAhead } = await hands.signatures();
  return { readKeys: (texts) => readKeys(hands, texts), checkSignature: check, checkAhead };
}

/** The commits of a branch that another commit contains. */
export async function within(audits: Audits, site: Site, chain: Chain, tip: string): Promise<string[]> {
  const others = new Set(await audits.ids(site, { tip: chain.tip, without: [...chain.without, tip] }));
  return chain.commits.map((one) => one.id).filter((id) => !others.has(id));
}

export interface Chain {
  tip: string;
  without: readonly string[];
  commits: readonly CommitFact[];
}
