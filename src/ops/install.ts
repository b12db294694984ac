import * as z from "zod/mini";
import { recordBaseline } from "../flows/audit/baseline.ts";
import { activateGuard } from "../flows/guard/activate-guard.ts";
import { configuredCommands } from "../flows/install/commands.ts";
import {
  type CommitChoice,
  commitInstalled,
  expectCommittable,
  nextCommit,
} from "../flows/install/commit.ts";
import { type FileReport, fileRows, nextRows, reportFiles, rowsOf } from "../flows/install/file-report.ts";
import { keepEnvironment } from "../flows/install/keep-environment.ts";
import { proposalRows } from "../flows/install/proposal-rows.ts";
import {
  type InstallInput,
  PROFILES,
  type Profile,
  refuseObstacles,
  requestOf,
} from "../flows/install/request.ts";
import { bringRecords } from "../flows/sync/bring-records.ts";
import {
  asTaken,
  describeWay,
  type Proposal,
  proposeRemotes,
  publishable,
  unconfirmed,
} from "../flows/trust/propose.ts";
import type { Way } from "../judge/trust.ts";
import { Failure } from "../model/failure.ts";
import { choice, flag, line, maybe, raw } from "../model/input.ts";
import { columns, PLAIN, paragraphs, plural, type Style } from "../model/text.ts";
import type { GuardActivation } from "../ports/guard.ts";
import type { Hands } from "../ports/hands.ts";
import type {
  AgentNext,
  Installation,
  PreparedCommit,
  ProjectProposal,
  SurfaceRequest,
} from "../ports/installation.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

interface InstallReport extends FileReport {
  version: string;
  profile: Profile;
  /** How many files of the program were copied into the clone. */
  runtime: number;
  /** What was proposed for a first `.pawl/config.yaml`; null where there was one. */
  proposed: ProjectProposal | null;
  commit: { branch: string; id: string; left: { path: string; why: string }[] } | null;
  agents: AgentNext[];
  guard: {
    protected: string[];
    /** The remotes that this run began to trust. */
    trusted: { name: string; address: string }[];
    chained: string[];
    changed: string[];
  } | null;
  /** What the repository's own configuration has pawl run; told when the guard comes to a clone. */
  commands: string[];
}

export const install = procedure({
  id: "install",
  summary: "Install pawl into this repository: skills, agents' settings, hooks, memory",
  details:
    "Writes the skills and settings of Claude Code, Codex and Copilot, a copy of pawl into the git directory, and the hooks\nthat guard protected branches; hooks that are there already go on running. Nothing that pawl did not write is ever\noverwritten: a file in the way is shown, and nothing is written. A second run changes only what is not in place.\n`pawl uninstall` takes everything back, byte for byte. --profile hooks is the guard alone, skills the skills and\ninstructions, state the memory alone. --commit commits exactly what was written; where the branch is guarded already,\na human confirms it by typing the branch's name.",
  examples: [
    "pawl install",
    "pawl install --dry-run",
    "pawl install --agents claude,codex --commit",
    "pawl install --with allow",
    "pawl install --profile hooks",
  ],
  access: "write",
  cli: { folder: "target" },
  input: z.strictObject({
    target: maybe(raw("the repository to install into; by default this one", "DIR")),
    agents: maybe(
      line("which agents: claude, codex, copilot, gemini, opencode, cursor, generic", "LIST", 100),
    ),
    with: maybe(
      line(
        "what is not usual: allow (Claude Code runs pawl's reading and recording commands without asking), vscode-local (prompt files and MCP for VS Code's older chat)",
        "LIST",
        100,
      ),
    ),
    profile: maybe(choice(PROFILES, "how much to install")),
    commit: flag("commit exactly what was written"),
    force: flag("replace files that are in the way; a copy of each is kept"),
    yes: flag("do not ask on a terminal"),
  }),

  async rehearse(hands, input) {
    const { installation, request, site, profile } = await prepare(hands, input);
    const steps = request ? installation.plan(request) : [];
    refuseObstacles(steps);
    const files = steps.filter((one) => ["create", "update", "remove"].includes(one.do));
    const runtime = profile === "state" ? [] : installation.missingRuntime();
    const commands = (await isNewGuard(hands, site, profile)) ? await configuredCommands(hands, site) : [];
    return [
      ...files.map(({ do: what, path }) => ({ do: what, path })),
      ...(runtime.length > 0
        ? [{ do: "copy", path: `pawl's program (${plural(runtime.length, "file")})` }]
        : []),
      ...(guards(profile) ? (await hands.git.guard()).rehearse(site) : []),
      ...commands.map((path) => ({ do: "run", path })),
    ];
  },

  async perform(hands, input) {
    const release = await (await hands.git.installation()).hold();
    try {
      return await carryOut(hands, input);
    } finally {
      release();
    }
  },

  text: ({ install: report }, style) => describe(report, style),
});

async function carryOut(hands: Hands, input: InstallInput) {
  const ready = await prepare(hands, input);
  const { installation, site, profile } = ready;
  let { request } = ready;
  const notes = installation.recover().map((path) => `${path} was changed while an earlier run was killed.`);
  const planned = request ? installation.plan(request) : [];
  refuseObstacles(planned);
  // Whatever keeps the guard from being put in place is known before anything is written.
  if (guards(profile)) (await hands.git.guard()).expectSupported(site);
  let committing = request && input.commit ? await expectCommittable(hands, installation, site) : undefined;
  const news = reportFiles(planned);
  const isNew = await isNewGuard(hands, site, profile);
  const commands = isNew ? await configuredCommands(hands, site) : [];
  const remotes = guards(profile) ? await proposeRemotes(hands, site) : { sure: [], open: [] };
  const asks = isNew || news.written.length + news.removed.length + remotes.open.length > 0;
  let confirmed = false;
  if (!input.yes && asks && (await hands.ask("")) !== undefined) {
    const answer = await confirm(hands, ready, { news, remotes, commands });
    committing = answer.commit ?? committing;
    if (request && answer.allow) request = { ...request, flags: [...request.flags, ALLOW] };
    confirmed = hands.agent === undefined;
  }
  const taken = confirmed ? [...remotes.sure, ...remotes.open] : remotes.sure;
  const proposed = request ? installation.proposal() : undefined;
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
  if (profile !== "state") await keepEnvironment(hands);
  if (profile === "state") await rememberHere(hands, site);
  const report: InstallReport = {
    version: installation.version,
    profile,
    ...reportFiles(done),
    runtime: runtime.length,
    proposed: proposed ?? null,
    commit: reportCommit(commit),
    agents: request ? installation.next(request) : [],
    guard: reportGuard(guard, taken),
    commands,
  };
  const next = request ? await nextCommit(hands, installation, site) : undefined;
  const open = confirmed ? [] : remotes.open.map(unconfirmed);
  return { data: { install: report }, next, warnings: [...notes, ...(guard?.notes ?? []), ...open] };
}

/** By now the files are written; the hooks come after the commit, so that it is part of what they begin with. */
function notCommitted(error: unknown): never {
  if (!(error instanceof Failure)) throw error;
  const { kind, code, message, details = {} } = error;
  const why = code === "not_confirmed" || error.hint === undefined ? [] : [error.hint];
  const hint = [...why, "The files are written, but not committed. To go on: pawl install --commit"].join(
    "\n",
  );
  throw new Failure(kind, code, message, { hint, details });
}

const isNewGuard = async (hands: Hands, site: Site, profile: Profile) =>
  guards(profile) && !(await hands.git.audits()).guardActive(site);

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
    throw new Failure("usage", "nothing_to_commit", "This profile writes no files that could be committed.", {
      details: { field: "commit" },
    });
  return { installation, request, site: (await hands.git.sites()).here(), profile: input.profile ?? "all" };
}

/** What a human sees and says yes to on a terminal; elsewhere it is done, because it only ever adds. */
async function confirm(
  hands: Hands,
  ready: Ready,
  { news, remotes, commands }: { news: FileReport; remotes: Proposal; commands: readonly string[] },
): Promise<{ commit?: CommitChoice | undefined; allow?: boolean }> {
  const trusted = [...remotes.sure, ...remotes.open].map(
    (way) => `${describeWay(way)}: what it has on protected branches may be pulled`,
  );
  const proposed = ready.request && ready.installation.proposal();
  const rows = [
    ...fileRows(news, PLAIN),
    ...(proposed ? proposalRows(proposed) : []),
    ...rowsOf("trust", trusted),
    ...rowsOf("runs", commands),
  ];
  for (const row of columns(rows).split("\n")) if (row !== "") hands.say(row);
  const { installation, site } = ready;
  const offered = ready.request && news.written.length > 0 && !installation.lookAtCommit().obstacle;
  const mayAllow = ready.request?.agents.includes("claude") && !ready.request.flags.includes(ALLOW);
  if (mayAllow) hands.say(ABOUT_ALLOWING);
  const [answer, more] = ((await hands.ask(questionOf(offered))) ?? "").trim().split(/\s+/);
  const allow = mayAllow === true && more === ALLOW;
  if (more === undefined || allow) {
    if (offered && answer === "commit")
      return { commit: await expectCommittable(hands, installation, site), allow };
    if (answer === "yes") return { allow };
  }
  throw new Failure("refused", "not_confirmed", "Not confirmed; nothing was changed.", {
    hint: "To do it without a question: pawl install --yes",
  });
}

const ALLOW = "allow";
const ABOUT_ALLOWING =
  "With `allow` after your answer, Claude Code runs those of pawl's own commands that only read and record without asking for each.";

const questionOf = (offered: boolean | undefined) =>
  offered ? "Type yes to install, or commit to install and commit it: " : "Type yes to install: ";

/** The memory alone: the repository is known, and nothing is guarded. */
async function rememberHere(hands: Hands, site: Site): Promise<void> {
  await recordBaseline(hands, { name: site.name, home: site.home, tips: [], active: false });
}

const reportCommit = (made: PreparedCommit | undefined): InstallReport["commit"] =>
  made ? { branch: made.branch, id: made.commit, left: made.left } : null;

const reportGuard = (guard: GuardActivation | undefined, taken: readonly Way[]): InstallReport["guard"] =>
  guard
    ? {
        protected: guard.patterns,
        trusted: taken.map(({ name, address }) => ({ name, address })),
        chained: guard.previous,
        changed: guard.changed,
      }
    : null;

function describe(report: InstallReport, style: Style): string {
  const { guard, commit, proposed } = report;
  const nothing =
    report.written.length + report.removed.length + report.runtime + (guard?.changed.length ?? 0) === 0;
  const rows = [
    ...fileRows(report, style),
    ...(report.runtime > 0
      ? [["copied", `pawl ${report.version} into this clone (${plural(report.runtime, "file")})`]]
      : []),
    ...(proposed ? proposalRows(proposed) : []),
    ...(guard ? [["guard", `protected: ${guard.protected.join(", ")}`]] : []),
    ...rowsOf("trusts", guard?.trusted.map(({ name, address }) => `${name} (${address})`) ?? []),
    ...rowsOf("runs", report.commands),
    ...(guard && guard.chained.length > 0
      ? [["", `hooks that go on running: ${guard.chained.join(", ")}`]]
      : []),
    ...(commit ? [["commit", `${commit.id.slice(0, 12)} on ${commit.branch}`]] : []),
    ...rowsOf(
      "",
      (commit?.left ?? []).map(({ path, why }) => `not ${path}: ${why}`),
    ),
  ];
  return paragraphs(
    nothing && !commit ? "Everything was in place." : style.green(`pawl ${report.version} is installed.`),
    columns(rows),
    nextRows(report.agents, style),
  );
}
