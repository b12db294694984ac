import * as z from "zod/mini";
import { auditRepository, type RepositoryAudit } from "../flows/audit/audit-repository.ts";
import { auditRange, auditUpdates } from "../flows/audit/audit-stretch.ts";
import {
  isLedgerPath,
  type Ledger,
  notOurs,
  parseLedger,
  readLedger,
  withHistory,
} from "../flows/audit/ledger.ts";
import { alteredReceipts } from "../flows/audit/receipts.ts";
import { showAudit } from "../flows/audit/show-audit.ts";
import { judgingSignatures, noState } from "../flows/audit/subject.ts";
import { subjectHere } from "../flows/audit/subject-here.ts";
import { closeExpired } from "../flows/audit/unlocks.ts";
import { whatSettles } from "../flows/audit/what-settles.ts";
import { findDoubts, findTakenBack } from "../flows/records/find-doubts.ts";
import { type Explained, isUndecided, isWrong } from "../judge/audit/classify.ts";
import type { AuditedBranch, Finding } from "../judge/audit/judge.ts";
import { breachOf, isAppendOnly } from "../judge/gates/integrity.ts";
import { Failure } from "../model/failure.ts";
import { flag, line, many, maybe, raw, wholeCommitId } from "../model/input.ts";
import { branchOfRef, isNothing, refOfBranch, STATE_REF } from "../model/naming.ts";
import { type Receipt, receipt } from "../model/records/run.ts";
import { plural } from "../model/text.ts";
import type { RefUpdate } from "../ports/audits.ts";
import type { Hands } from "../ports/hands.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

interface Wanted {
  range?: string | undefined;
  ci?: boolean | undefined;
  repo?: string | undefined;
  updates?: string | undefined;
  offline?: boolean | undefined;
  root?: readonly string[] | undefined;
}

/** Whoever moves a repository to another server pushes all its branches and tags at once. */
const MOST_PUSHED = 2 ** 26;

export const audit = procedure({
  id: "audit",
  summary: "Check that every commit on the protected branches is explained and nothing was tampered with",
  details:
    "Puts every first-parent commit into one class: baseline (there before pawl), approved, pull request (a task\nthat its host merged), from the remote, unlocked by a human, unapproved (on a guarded remote without an\napproval, or pushed past this clone's own hook), or unexplained. It also reports moves in the branches' logs\nthat nothing explains, refs written without git, replaced or grafted history, hooks that were changed or\nswitched off, and remote-tracking refs that the remote does not confirm.\nRANGE is a branch, or two commits as in main~5..main. --ci needs only a clone with the branch pawl/state and\njudges what was published by those records alone. Where keys are enrolled, it checks every signature against\nthe keys and the policy in force before the move; --root names the commit with the first key, as you know it.\nExit code 0 when everything is explained, 1 when something is not, 2 when it could not tell.",
  examples: ["pawl audit", "pawl audit main", "pawl audit main~5..main", "pawl audit --ci"],
  access: "read",
  asItIs: true,
  cli: { positional: ["range"], files: ["updates"] },
  input: z.strictObject({
    range: maybe(line("a branch, or two commits", "RANGE", 500)),
    ci: flag("check what was published, from the branch pawl/state alone"),
    repo: maybe(line("the repository, as records call it", "NAME", 60)),
    updates: maybe(
      raw("with --ci: lines `old new ref`, as git gives them to a server's hook", "FILE", MOST_PUSHED),
    ),
    root: many(wholeCommitId("a commit from which keys are trusted, by its whole id")),
    offline: flag("do not ask the remotes to confirm what this clone believes"),
  }),

  rehearse: async () => [],

  async perform(hands, input) {
    if (input.updates !== undefined && !input.ci)
      throw new Failure("usage", "needs_ci", "--updates is for --ci only.", {
        hint: "pawl audit --ci --updates FILE",
        details: { field: "updates" },
      });
    const { audited, ledger, said, state } = input.ci
      ? await published(hands, input)
      : await here(hands, input);
    const { branches, notes } = audited;
    const findings = [
      ...audited.findings,
      ...(await handWritten(hands, ledger)),
      ...(await alteredReceipts(hands, ledger, requestedIn(branches), (path) =>
        earlierReceipts(hands, path, state),
      )),
      ...rootMissing(branches, input.root),
      ...(input.ci ? [] : await madeUp(hands)),
    ];
    const unexplained = branches.flatMap((one) => one.commits.filter(isWrong));
    const clean = unexplained.length === 0 && findings.length === 0;
    const data = { audit: { clean, branches, decided: audited.decided, findings } };
    if (ledger.problems.length > 0) throw cannotTell(ledger, data);
    const undecided = unexplained.filter(isUndecided);
    if (findings.length === 0 && undecided.length > 0 && undecided.length === unexplained.length)
      throw nobodyAnswered(undecided, data);
    return {
      data,
      warnings: [...said, ...new Set(notes)],
      notReady: !clean,
      // A server's hook speaks to whoever pushed in words of its own.
      next:
        input.updates === undefined
          ? whatSettles(branches, await hands.git.sites(), input.ci ?? false)
          : undefined,
    };
  },

  text: ({ audit: found }, style) => showAudit(found, style),
});

/** The signed requests that hosts have merged. */
const requestedIn = (branches: readonly AuditedBranch[]): ReadonlySet<string> =>
  new Set(
    branches.flatMap((one) => one.commits.flatMap((each) => (each.signed && each.by ? [each.by] : []))),
  );

/** What the records' history has of one receipt, as far as it can be read. */
async function earlierReceipts(hands: Hands, path: string, state: string | undefined): Promise<Receipt[]> {
  const site = (await hands.git.sites()).here();
  const versions = await (await hands.git.audits()).recordVersions(site, path, state);
  return hands.look((reader) =>
    versions.flatMap(({ text }) => {
      try {
        return [reader.parse(receipt, path, text, path).value];
      } catch (error) {
        if (error instanceof Failure) return [];
        throw error;
      }
    }),
  );
}

interface Outcome {
  audited: RepositoryAudit;
  ledger: Ledger;
  said: string[];
  /** The commit that the records are read from; undefined where it is this clone's own state. */
  state?: string;
}

/** A clone that people work in: its own logs, files and settings have a say. */
async function here(hands: Hands, input: Wanted): Promise<Outcome> {
  const said = await closeExpired(hands);
  const sites = await hands.git.sites();
  const ledger = await withHistory(hands, sites.here(), await hands.look((reader) => readLedger(reader)));
  const subject = async (site: Site) => ({
    ...(await subjectHere(hands, site, ledger, !input.offline)),
    roots: input.root,
  });
  const named = input.repo === undefined ? undefined : sites.named(input.repo);
  if (input.range !== undefined) {
    const site = named ?? sites.here();
    const audited = input.range.includes("..")
      ? await auditRange(hands, await subject(site), input.range)
      : await auditRepository(hands, await subject(site), await branchNamed(hands, site, input.range));
    return { audited, ledger, said };
  }
  const all = sites.all();
  const known = all.some((one) => one.commonDir === sites.here().commonDir) ? all : [sites.here(), ...all];
  const audited: RepositoryAudit = { branches: [], findings: [], decided: [], notes: [] };
  for (const site of named ? [named] : known) {
    const one = await auditRepository(hands, await subject(site), undefined);
    audited.branches.push(...one.branches);
    audited.findings.push(...one.findings);
    audited.decided.push(...one.decided);
    audited.notes.push(...one.notes);
  }
  return { audited, ledger, said };
}

async function branchNamed(hands: Hands, site: Site, name: string): Promise<string> {
  const ref = refOfBranch(branchOfRef(name));
  const { branches } = await (await hands.git.audits()).branching(site, "own");
  if (branches.some((one) => one.ref === ref)) return ref;
  throw new Failure("not_found", "no_branch", `${site.name} has no branch "${name}".`, {
    hint: "Name a branch, or two commits as in main~5..main.",
    details: { field: "range" },
  });
}

/** A clone for a check, or a server: nothing but commits has a say. */
async function published(hands: Hands, input: Wanted): Promise<Outcome> {
  const site = (await hands.git.sites()).here();
  const audits = await hands.git.audits();
  const updates = readUpdates(input.updates ?? "");
  const arriving = updates.find((one) => one.ref === STATE_REF && !isNothing(one.new))?.new;
  await audits.checkWhole(site);
  const state = await audits.stateTexts(site, arriving, isLedgerPath);
  if (!state) throw noState(site);
  const parsed = await hands.look((reader) => parseLedger(reader, state.texts, "pawl/state"));
  const ledger = await withHistory(hands, site, parsed, state.commit);
  const manner = { view: "published", ask: false, clones: new Set<string>() } as const;
  const subject = {
    site,
    names: publishedNames(ledger, input.repo),
    ledger,
    manner,
    remotes: [],
    roots: input.root,
    ...(await judgingSignatures(hands)),
  };
  const audited =
    input.updates !== undefined
      ? await auditUpdates(hands, subject, updates)
      : input.range?.includes("..")
        ? await auditRange(hands, subject, input.range)
        : await auditRepository(hands, subject, input.range && refOfBranch(input.range));
  return { audited, ledger, said: [], state: state.commit };
}

/** The folder of such a clone may be called anything; the records know what the home of the state is called. */
function publishedNames(ledger: Ledger, repo: string | undefined): ReadonlySet<string> {
  if (repo !== undefined) return new Set([repo]);
  const homes = [...ledger.repositories, ...ledger.earlier].filter((one) => one.home).map((one) => one.id);
  if (homes.length > 0) return new Set(homes);
  const approved = new Set(ledger.approvals.flatMap((one) => one.repos.map((each) => each.name)));
  if (approved.size <= 1) return approved;
  throw new Failure("usage", "which_repository", "The records do not say which repository this is.", {
    hint: `Name it: pawl audit --ci --repo ${[...approved][0]}`,
    details: { field: "repo", known: [...approved] },
  });
}

function readUpdates(text: string): RefUpdate[] {
  return text.split("\n").flatMap((row) => {
    const [old, fresh, ref] = row.trim().split(" ");
    return old && fresh && ref ? [{ old, new: fresh, ref }] : [];
  });
}

/** What a human pinned is part of a protected branch, or somebody has replaced them all. */
function rootMissing(branches: readonly AuditedBranch[], roots: readonly string[] = []): Finding[] {
  if (branches.length === 0) return [];
  const known = branches.map((one) => one.root?.commit);
  const message = "No protected branch has the commit from which keys are trusted.";
  const repo = branches[0]?.repo ?? "";
  return roots
    .filter((root) => !known.includes(root))
    .map((root) => ({ code: "root_missing", repo, where: root.slice(0, 12), message }));
}

/** A record that was tampered with explains nothing. */
async function handWritten(hands: Hands, ledger: Ledger): Promise<Finding[]> {
  return (await notOurs(hands, ledger)).map(({ path: where, why }) => ({
    ...DOUBTED[why],
    repo: "pawl/state",
    where,
  }));
}

/** What approvals rested on: proof that pawl did not write is told, whether or not anybody has approved it yet. */
async function madeUp(hands: Hands): Promise<Finding[]> {
  const doubts = (await findDoubts(hands)).filter((one) => isAppendOnly(one.path));
  return [...(await findTakenBack(hands)), ...doubts].map((one) => {
    const { code, message } = breachOf(one);
    return { code, message, repo: "pawl/state", where: one.path };
  });
}

const DOUBTED = {
  changed: {
    code: "record_not_ours",
    message: "No event tells of this text: it was written or changed by hand.",
  },
  missing: {
    code: "record_missing",
    message:
      "The log or the history of the state tells of this record, and it is gone. Bring it back: pawl doctor --fix, or pawl sync in a clone that has it.",
  },
  renewed: { code: "record_renewed", message: "It was removed, and an agent had it made anew." },
} as const;

/** A record that cannot be read might explain what nothing else explains. */
function cannotTell({ problems }: Ledger, data: unknown): Failure {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${plural(problems.length - 1, "other record")})` : "";
  return new Failure("unreadable", "cannot_tell", `Could not tell: ${first?.message}${more}`, {
    ...(first?.hint === undefined ? {} : { hint: first.hint }),
    details: { problems, ...(data as object) },
  });
}

/** Everything else is explained; what is left depends on a remote that said nothing. */
function nobodyAnswered(undecided: readonly Explained[], data: unknown): Failure {
  const [first] = undecided;
  const others = undecided.length > 1 ? ` (and ${plural(undecided.length - 1, "other commit")})` : "";
  const what = `${first?.commit.id.slice(0, 12)} "${first?.commit.subject.slice(0, 60)}"${others}`;
  const [reason, hint] =
    first?.reason === "remote_unconfirmed"
      ? ["remote_unconfirmed", "A human has to confirm where the remote points: pawl remote trust <name>"]
      : ["remote_silent", "Run it again when the remote is reachable."];
  return new Failure(
    "unavailable",
    reason,
    `Could not tell whether ${what} is explained. ${first?.message}`,
    {
      hint,
      details: data as Record<string, unknown>,
    },
  );
}
