import type { FileStep, SurfaceRequest } from "../core/git/installation.ts";
import { VERSION } from "../core/version.ts";
import type { AgentName } from "./adapter.ts";
import { carryOut } from "./journal.ts";
import { LEDGER, type Ledger } from "./ledger.ts";
import { planFiles } from "./plan.ts";
import type { Step } from "./plan-steps.ts";
import { showDiff } from "./show-diff.ts";
import {
  foldersOf,
  ledgerAfter,
  ledgerStep,
  looker,
  readKept,
  readLedger,
  rememberLedger,
  type Tree,
  workOf,
} from "./surface-work.ts";
import { isAgent, isFlag, wantedSurfaces } from "./surfaces.ts";

/** What one run makes of the tree: the steps, and the ledgers before and after. */
export interface Drawing {
  steps: Step[];
  before: Ledger | undefined;
  after: Ledger | undefined;
}

export function choicesOf({ profile, agents, flags }: SurfaceRequest) {
  return {
    ...{ version: VERSION, profile },
    agents: agents.filter(isAgent) as AgentName[],
    flags: flags.filter(isFlag),
  };
}

/** From the tree as it is now; nothing is changed. */
export function drawInstall(tree: Tree, request: SurfaceRequest): Drawing {
  const before = readLedger(tree);
  const choices = choicesOf(request);
  const look = looker(tree.root);
  const { force, lenient } = request;
  const kept = (digest: string) => readKept(tree.local, digest);
  const wanted = wantedSurfaces(choices);
  const steps = planFiles({ wanted, ledger: before, look, force, lenient, kept });
  const header = { pawl: VERSION, profile: choices.profile, agents: choices.agents, flags: choices.flags };
  const ledger = look(LEDGER);
  const after = ledgerAfter(steps, before, header, [...foldersOf(steps), ...ledger.missing]);
  return { steps: [...steps, ledgerStep(before, after, ledger)], before, after };
}

export function drawRemoval(tree: Tree): Drawing {
  const before = readLedger(tree);
  const kept = (digest: string) => readKept(tree.local, digest);
  const look = looker(tree.root);
  const steps = planFiles({ wanted: [], ledger: before, look, force: false, lenient: true, kept });
  return { steps: [...steps, ledgerStep(before, undefined, look(LEDGER))], before, after: undefined };
}

/** Makes it so; a drawing with a refusal in it changes nothing. */
export function realise(tree: Tree, { steps, before, after }: Drawing): FileStep[] {
  if (steps.some((one) => one.do === "refuse")) return steps.map(told);
  const left = carryOut(tree.local, tree.root, workOf(steps, before, after));
  rememberLedger(tree.local, after);
  return steps.map((one) =>
    one.changes?.some((change) => left.includes(change.path))
      ? { ...told(one), do: "leave", why: "somebody changed it meanwhile; run this again" }
      : told(one),
  );
}

export function told({ do: what, path, why, how, texts }: Step): FileStep {
  return { do: what, path, why, how, diff: texts && showDiff(path, texts.before, texts.after) };
}
