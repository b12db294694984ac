import { sha256 } from "../../files/digest.ts";
import { missingPrograms } from "../../files/find-program.ts";
import { LEDGER_FILE, POLICY_FILE } from "../../model/paths.ts";
import { VERSION } from "../../model/version.ts";
import type { FileStep, ProjectProposal, SurfaceRequest } from "../../ports/installation.ts";
import { carryOut } from "../journal.ts";
import { type Overlay, readOverrides } from "../overrides/overrides.ts";
import { configText } from "../project/config-text.ts";
import { lookAtProject } from "../project/look.ts";
import { proposeFor } from "../project/propose.ts";
import { showDiff } from "../show-diff.ts";
import { isAgent, isFlag, type Surfaces, VENDOR, wantedSurfaces } from "../surfaces.ts";
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
} from "./installed-tree.ts";
import type { Ledger } from "./ledger.ts";
import { type Look, lookAt } from "./look.ts";
import { planFiles } from "./plan-files.ts";
import { blocked, plainText, type Step } from "./steps.ts";
import type { WantedFile } from "./wanted.ts";

/** What one run makes of the tree: the steps, and the ledgers before and after. */
export interface InstallationPlan {
  steps: Step[];
  before: Ledger | undefined;
  after: Ledger | undefined;
}

/** What is wanted in this tree, with the user's overrides. */
export function surfacesOf(tree: Tree, request: SurfaceRequest, overlay?: Overlay): Surfaces {
  const { wanted, ...reports } = wantedSurfaces({
    version: VERSION,
    profile: request.profile,
    overrides: readOverrides(tree.root, overlay),
    agents: request.agents.filter(isAgent),
    flags: request.flags.filter(isFlag),
    config: firstConfig(tree, request),
    vendored: request.flags.includes(VENDOR),
  });
  return { wanted: [...wanted, ...vendored(tree, request)], ...reports };
}

/** Which package is the project's: the one that it names, until a newer version or an upgrade names another. */
function packageFor(tree: Tree, { renew }: SurfaceRequest): string | undefined {
  const before = readLedger(tree);
  const named = before?.pawl === VERSION ? before.package : undefined;
  const own = tree.package?.digest;
  return renew ? (own ?? named) : (named ?? own);
}

/** Another build of the same version does not replace the package that the project names. */
function vendored(tree: Tree, request: SurfaceRequest): WantedFile[] {
  if (!request.flags.includes(VENDOR)) return [];
  const path = `.pawl/vendor/pawl-${VERSION}.tgz`;
  const named = packageFor(tree, request);
  const isOwn = named !== undefined && tree.package?.digest === named;
  const bytes = isOwn ? tree.package?.archive() : lookAt(tree.root, path).bytes;
  return bytes ? [{ mode: "own", path, text: "", bytes, template: named ?? "" }] : [];
}

/** What was written once stays what is wanted, whatever the project's files would make us propose today. */
function firstConfig(tree: Tree, { remotes, policy }: SurfaceRequest): string {
  const { text } = lookAt(tree.root, POLICY_FILE);
  const record = readLedger(tree)?.files.find((one) => one.path === POLICY_FILE);
  if (text !== undefined && record?.mode === "own" && record.sha256 === sha256(plainText(text)))
    return plainText(text);
  const found = proposeFor(lookAtProject(tree.root));
  return configText({
    ...found,
    remotes,
    profile: policy?.profile,
    protected: policy?.protected,
    checks: (policy?.checks ?? true) ? found.checks : [],
    setup: (policy?.setup ?? true) ? found.setup : undefined,
  });
}

/** Undefined where the project has a policy already. */
export function proposalFor(tree: Tree, path: string | undefined): ProjectProposal | undefined {
  if (lookAt(tree.root, POLICY_FILE).bytes !== undefined) return undefined;
  const found = proposeFor(lookAtProject(tree.root));
  const lines = [...found.checks.map((one) => one.command), ...(found.setup ? [found.setup] : [])];
  return { ...found, missing: missingPrograms(lines, tree.root, path) };
}

/** From the tree as it is now, and from overrides that are about to be written; nothing is changed. */
export function planInstallation(
  tree: Tree,
  request: SurfaceRequest,
  overlay: Overlay = new Map(),
  taken: readonly string[] = [],
): InstallationPlan {
  const before = readLedger(tree);
  const look = looker(tree);
  const { force, lenient, profile, agents, flags } = request;
  const kept = (digest: string) => readKept(tree.local, digest);
  const { wanted } = surfacesOf(tree, request, overlay);
  const steps = [
    ...planFiles({ wanted, ledger: before && asWritten(before, taken, look), look, force, lenient, kept }),
    ...[...overlay].map(([path, text]) => overrideStep(look(path), text)),
  ];
  const repository = before?.repository ?? tree.name();
  const named = packageFor(tree, request);
  const header = {
    pawl: VERSION,
    package: named,
    repository,
    profile,
    agents: [...agents],
    flags: [...flags],
  };
  const ledger = look(LEDGER_FILE);
  const after = ledgerAfter(steps, before, header, [...foldersOf(steps), ...ledger.missing]);
  return { steps: [...steps, ledgerStep(before, after, ledger)], before, after };
}

/** Whose edits are kept elsewhere may be written again, as if they were what we wrote. */
const asWritten = (ledger: Ledger, taken: readonly string[], look: (path: string) => Look): Ledger => ({
  ...ledger,
  files: ledger.files.map((one) =>
    one.mode === "own" && taken.includes(one.path)
      ? { ...one, sha256: sha256(plainText(look(one.path).text ?? "")) }
      : one,
  ),
});

/** An override is the user's: it is written as it was asked for, and is in no ledger. */
function overrideStep(look: Look, text: string | undefined): Step {
  const { path, real, bytes: before, missing: folders } = look;
  if (look.blocked !== undefined) return blocked(look);
  const after = text === undefined ? undefined : Buffer.from(text, "utf8");
  if (look.text === text) return { do: "keep", path };
  const changes = [{ path: real, before, after }];
  if (after === undefined) return { do: "remove", path, changes };
  return { do: before === undefined ? "create" : "update", path, changes, folders };
}

export function planUninstallation(tree: Tree): InstallationPlan {
  const before = readLedger(tree);
  const kept = (digest: string) => readKept(tree.local, digest);
  const look = looker(tree);
  const steps = planFiles({ wanted: [], ledger: before, look, force: false, lenient: true, kept });
  return { steps: [...steps, ledgerStep(before, undefined, look(LEDGER_FILE))], before, after: undefined };
}

/** Makes it so; a drawing with a refusal in it changes nothing. */
export function applyPlan(tree: Tree, { steps, before, after }: InstallationPlan): FileStep[] {
  if (steps.some((one) => one.do === "refuse")) return steps.map(shownStep);
  const left = carryOut(tree.local, tree.root, workOf(steps, before, after));
  rememberLedger(tree.local, after);
  return steps.map((one) =>
    one.changes?.some((change) => left.includes(change.path))
      ? { ...shownStep(one), do: "leave", why: "somebody changed it in the meantime; run this again" }
      : shownStep(one),
  );
}

export function shownStep({ do: what, path, why, how, texts }: Step): FileStep {
  return { do: what, path, why, how, diff: texts && showDiff(path, texts.before, texts.after) };
}
