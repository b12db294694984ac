import * as z from "zod/mini";
import { recordBaseline } from "../flows/audit/baseline.ts";
import { activateGuard } from "../flows/guard/activate-guard.ts";
import { configuredCommands } from "../flows/install/commands.ts";
import {
  commitInstalled,
  expectCommittable,
  lookAtUncommitted,
  nextStep,
  whyUncommitted,
} from "../flows/install/commit.ts";
import { chosen, confirmAll, type Decided } from "../flows/install/dialogue.ts";
import { reportFiles } from "../flows/install/file-report.ts";
import {
  describeInstall,
  type InstallReport,
  reportCommit,
  reportGuard,
} from "../flows/install/install-report.ts";
import { keepEnvironment } from "../flows/install/keep-environment.ts";
import { proposalSteps } from "../flows/install/proposal-rows.ts";
import { askChoices } from "../flows/install/questions.ts";
import {
  changesIn,
  type InstallInput,
  missingCopy,
  PROFILES,
  type Profile,
  refuseObstacles,
  requestOf,
} from "../flows/install/request.ts";
import { tellWithoutPawl } from "../flows/install/without-pawl.ts";
import { bringRecords } from "../flows/sync/bring-records.ts";
import { asTaken, proposeRemotes, publishable, unconfirmed } from "../flows/trust/propose.ts";
import { Failure, stoppedByHuman } from "../model/failure.ts";
import { choice, flag, line, maybe, raw } from "../model/input.ts";
import type { Hands } from "../ports/hands.ts";
import type { Installation, SurfaceRequest } from "../ports/installation.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

export const install = procedure({
  id: "install",
  summary: "Install pawl into this repository: skills, agents' settings, git hooks, state",
  details:
    "Writes the skills and settings of Claude Code, Codex and Copilot, a copy of pawl into the git directory, and\nthe hooks that guard protected branches; hooks you already have keep running. Pawl never overwrites what it\ndid not write: if a file is in the way, it shows it and writes nothing. A second run changes only what is not\nin place. `pawl uninstall` takes everything back, byte for byte.\n--profile hooks installs the guard alone, skills the skills and instructions, state the records alone.\n--commit commits exactly what was written; if the branch is already guarded, a human confirms it by typing the\nbranch's name. On a terminal a first install asks about agents, checks, protected branches and the like: Enter\ntakes the default, a flag answers in advance, and --yes asks nothing. Without a terminal nothing is asked\neither: it takes every default.",
  examples: [
    "pawl install",
    "pawl install --dry-run",
    "pawl install --agents claude,codex --commit",
    "pawl install --with allow",
    "pawl install --vendor --commit",
    "pawl install --profile hooks",
  ],
  access: "write",
  cli: { folder: "target" },
  input: z.strictObject({
    target: maybe(raw("the repository to install into (default: this one)", "DIR")),
    agents: maybe(
      line("which agents: claude, codex, copilot, gemini, opencode, cursor, generic", "LIST", 100),
    ),
    with: maybe(
      line(
        "extras: allow (Claude Code runs pawl's reading and recording commands without asking), vscode-local (prompt files and MCP for VS Code's older chat)",
        "LIST",
        100,
      ),
    ),
    profile: maybe(choice(PROFILES, "how much to install")),
    vendor: flag("also keep the package in .pawl/vendor, for clones, CI and agents without a registry"),
    commit: flag("commit exactly what was written"),
    force: flag("replace files that are in the way, keeping a copy of each"),
    yes: flag("do not ask on a terminal"),
  }),

  async rehearse(hands, input) {
    const { installation, request, site, profile } = await prepare(hands, input);
    const files = request ? changesIn(installation.plan(request)) : [];
    const commands = await unseenCommands(hands, site, profile);
    const proposed = request && installation.proposal();
    return [
      ...files,
      ...(profile === "state" ? [] : missingCopy(installation)),
      ...(guards(profile) ? (await hands.git.guard()).rehearse(site) : []),
      ...commands.map((path) => ({ do: "run", path })),
      ...(proposed ? proposalSteps(proposed) : []),
    ];
  },

  async perform(hands, input) {
    const decided = await converse(hands, input);
    return (await hands.git.installation()).exclusively(() => carryOut(hands, input, decided));
  },

  text: ({ install: report }, style) => describeInstall(report, style),
});

/** Asks before anything is locked or written, so that stopping here leaves nothing behind. */
async function converse(hands: Hands, input: InstallInput): Promise<Decided | undefined> {
  if (input.yes || (await hands.ask("")) === undefined) return undefined;
  const ready = await prepare(hands, input);
  const planned = (request: SurfaceRequest | undefined) => {
    const steps = request ? ready.installation.plan(request) : [];
    refuseObstacles(steps);
    return reportFiles(steps);
  };
  const found = await lookAround(hands, ready);
  const { written, removed } = planned(ready.request);
  const news = [written, removed, found.remotes.open, found.commands];
  if (!found.isNew && news.every((one) => one.length === 0)) return undefined;
  const request = ready.request && (await askChoices(hands, ready, ready.request, input));
  const shown = { ...found, news: planned(request), commit: input.commit ?? false };
  return confirmAll(hands, ready, request, shown);
}

/** Whatever keeps the guard from being put in place is known before anything is written. */
async function lookAround(hands: Hands, { site, profile }: Ready) {
  if (guards(profile)) (await hands.git.guard()).expectSupported(site);
  const isNew = await isNewGuard(hands, site, profile);
  return {
    isNew,
    commands: await unseenCommands(hands, site, profile),
    remotes: guards(profile) ? await proposeRemotes(hands, site) : { sure: [], open: [] },
  };
}

async function carryOut(hands: Hands, input: InstallInput, decided: Decided | undefined) {
  const ready = await prepare(hands, input);
  const { installation, site, profile } = ready;
  const request = decided?.request ?? ready.request;
  const notes = installation.recover();
  refuseObstacles(request ? installation.plan(request) : []);
  const { isNew, commands, remotes } = await lookAround(hands, ready);
  const wantsCommit = request && (input.commit || decided?.commit);
  const committing = wantsCommit ? await expectCommittable(hands, installation, site) : undefined;
  const confirmed = decided !== undefined && hands.agent === undefined;
  const taken = confirmed ? [...remotes.sure, ...remotes.open] : remotes.sure;
  const proposed = request && chosen(installation.proposal(), request);
  const runtime = profile === "state" ? [] : installation.copyRuntime();
  const whole = request && { ...request, remotes: publishable(taken) };
  const done = whole ? installation.apply(whole) : [];
  refuseObstacles(done);
  const commit =
    whole && committing
      ? await commitInstalled(hands, installation, site, whole, committing).catch(notCommitted)
      : undefined;
  notes.push(...(await bringRecords(hands)));
  const guard = guards(profile) ? await activateGuard(hands, site, asTaken(taken)) : undefined;
  if (isNew) notes.push(...(await tellWithoutPawl(hands, site, commit?.commit)));
  if (profile !== "state") await keepEnvironment(hands);
  if (profile === "state") await rememberHere(hands, site);
  const look = request && lookAtUncommitted(installation);
  const report: InstallReport = {
    version: installation.version,
    profile,
    shown: decided !== undefined,
    ...reportFiles(done),
    runtime: runtime.length,
    proposed: proposed ?? null,
    commit: reportCommit(commit),
    uncommitted: look !== undefined,
    agents: request ? installation.next(request) : [],
    guard: reportGuard(guard, taken),
    commands,
  };
  const next = request && (await nextStep(hands, site, look, commit));
  const open = confirmed ? [] : remotes.open.map(unconfirmed);
  return {
    data: { install: report },
    next,
    warnings: [...notes, ...(guard?.notes ?? []), ...open, ...whyUncommitted(look)],
  };
}

/** By now the files are written; the hooks come after the commit, so that it is part of what they begin with. */
function notCommitted(error: unknown): never {
  if (!(error instanceof Failure)) throw error;
  const { kind, code, message, details = {} } = error;
  if (kind === "interrupted")
    throw stoppedByHuman("the files are written but not committed. To go on: pawl install --commit");
  const why = code === "not_confirmed" || error.hint === undefined ? [] : [error.hint];
  const hint = [
    ...why,
    "The files are written but not committed. To commit them: pawl install --commit",
  ].join("\n");
  throw new Failure(kind, code, message, { hint, details });
}

const isNewGuard = async (hands: Hands, site: Site, profile: Profile) =>
  guards(profile) && !(await hands.git.audits()).guardActive(site);

/** What the policy names runs once pawl is installed here, guard or not, so that whoever installs it is shown it first. */
const unseenCommands = async (hands: Hands, site: Site, profile: Profile) =>
  (await isNewGuard(hands, site, profile)) || (profile !== "state" && !hands.world.isInstalledHere())
    ? configuredCommands(hands, site)
    : [];

const guards = (profile: Profile) => profile === "all" || profile === "hooks";

interface Ready {
  installation: Installation;
  request: SurfaceRequest | undefined;
  site: Site;
  profile: Profile;
}

async function prepare(hands: Hands, input: InstallInput): Promise<Ready> {
  const installation = await hands.git.installation();
  const request = requestOf(installation, input);
  if (input.commit && !request)
    throw new Failure("usage", "nothing_to_commit", "This profile writes no files to commit.", {
      hint: "Leave out --commit: git's hooks lie in the git directory, and no branch has them.",
    });
  return { installation, request, site: (await hands.git.sites()).here(), profile: input.profile ?? "all" };
}

/** Installs the records alone: the repository is known, and nothing is guarded. */
async function rememberHere(hands: Hands, site: Site): Promise<void> {
  await recordBaseline(hands, { name: site.name, home: site.home, tips: [], active: false });
}
