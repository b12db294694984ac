import * as z from "zod/mini";
import { recordUnguarded } from "../flows/audit/baseline.ts";
import { giveBackAll } from "../flows/claims/settle-claim.ts";
import { confirmTyped, expectTerminal, refuseAgents } from "../flows/human-only.ts";
import { fileRows, reportFiles, rowsOf } from "../flows/install/file-report.ts";
import { whatStays } from "../flows/install/what-stays.ts";
import { mustSignAtTheDoor, signAtTheDoor } from "../flows/trust/at-the-door.ts";
import { hasDropped } from "../flows/trust/has-dropped.ts";
import { Failure } from "../model/failure.ts";
import { flag, maybe, raw } from "../model/input.ts";
import { columns, paragraphs, plural } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Installation } from "../ports/installation.ts";
import type { Site } from "../ports/sites.ts";
import type { StateFolder } from "../ports/state-folder.ts";
import { procedure } from "./operation.ts";

interface Wanted {
  delete_state?: boolean | undefined;
  yes?: boolean | undefined;
  sign_with?: string | undefined;
}

export const uninstall = procedure({
  id: "uninstall",
  summary: "Remove everything that pawl installed from this repository",
  details:
    "Restores files, git's configuration and hooks byte for byte; what you have edited since stays and is listed.\nYour records are kept, unless there are none or you say --delete-state and confirm it. Refused to agents;\nwithout a terminal it needs --yes. Under `approvals: signed` it must be signed, unless the project itself has\ndropped pawl by a signed change.",
  examples: ["pawl uninstall", "pawl uninstall --dry-run", "pawl uninstall --delete-state"],
  access: "write",
  input: z.strictObject({
    delete_state: flag("also delete every task and its history; asks for the project's name"),
    yes: flag("do not ask, except for --delete-state; needed where there is no terminal"),
    sign_with: maybe(raw("sign with this key, if the policy requires a signature", "FILE")),
  }),

  async rehearse(hands, input) {
    const { guard, site, installation, state } = await expectHuman(hands);
    const files = installation.planRemoval().filter((one) => one.do === "remove");
    const goes = input.delete_state || ((await hands.isStateForgettable()) && hands.reader().exists);
    return [
      ...files.map(({ path }) => ({ do: "remove pawl from", path })),
      ...guard.rehearseDeactivation(site),
      ...(goes && !state.foreign ? [{ do: `delete ${contents(state)} and`, path: "the state" }] : []),
    ];
  },

  async perform(hands, input) {
    const tools = await expectHuman(hands);
    const fate = await confirm(hands, tools, input);
    const signed = await signRemoval(hands, tools.site, input);
    return tools.installation.exclusively(async () => {
      const plan = await takeOut(hands, tools, signed && fate === "forgotten" ? "kept" : fate);
      const others = signed && plan.next ? [await howToExplain(hands)] : [];
      return { ...plan, warnings: [...plan.warnings, ...others] };
    });
  },

  text: ({ uninstall: report }, style) => {
    const nothing = report.removed.length + report.guard.removed.length === 0 && report.state !== "deleted";
    const guard = report.guard.removed.length > 0 ? ["protected branches are no longer protected"] : [];
    const state =
      report.state === "kept" && !nothing
        ? [
            `${report.records} in ${report.folder}; git does not see it (.git/info/exclude)`,
            "to delete that, its history and all saved work: pawl uninstall --delete-state",
          ]
        : [];
    return paragraphs(
      nothing ? "There was nothing to remove." : "pawl is no longer installed here.",
      columns([
        ...fileRows({ ...report, written: [], kept: [] }, style),
        ...rowsOf("guard", guard),
        ...rowsOf("kept", state),
        ...rowsOf("stays", report.stays),
      ]),
    );
  },
});

const NOTHING_KEPT = { keep_ours: [], keep_theirs: [] };

interface Tools {
  guard: Awaited<ReturnType<Hands["git"]["guard"]>>;
  installation: Installation;
  state: StateFolder;
  site: Site;
}

async function expectHuman(hands: Hands): Promise<Tools> {
  await refuseAgents(hands, "remove the guard");
  const { git } = hands;
  return {
    guard: await git.guard(),
    installation: await git.installation(),
    state: await git.stateFolder(),
    site: (await git.sites()).here(),
  };
}

async function takeOut(hands: Hands, { guard, installation, state, site }: Tools, fate: Fate) {
  const changed = installation.recover();
  // A ledger that cannot be read is reported while the guard still holds.
  installation.planRemoval();
  // While the remote is still known to be trusted: nobody will renew them any more.
  const claims = await giveBackAll(hands);
  const stays = await whatStays(hands, site);
  const tracked = installation.isCommitted();
  const { removed, notes } = guard.deactivate(site);
  const { removed: files, left, noted } = reportFiles(installation.remove());
  const records = contents(state);
  if (fate === "kept") await recordUnguarded(hands, site);
  else if (fate === "deleted") state.remove();
  else await hands.forgetState();
  const copies = installation.removeRuntime();
  return {
    data: {
      uninstall: {
        removed: files,
        left,
        noted,
        guard: { removed },
        state: fate,
        records,
        folder: state.shown,
        stays,
      },
    },
    next:
      tracked && files.length > 0
        ? {
            command: 'git commit -a -m "Uninstall pawl"',
            reason: `${plural(files.length, "file")} changed or deleted, not committed yet`,
          }
        : undefined,
    warnings: [
      ...changed,
      ...claims,
      ...notes,
      ...copies.map((path) => `A copy of one of your files stays: ${path}`),
    ],
  };
}

/** Under `signed` that commit needs a signature of its own, or everybody else's audit reports it. */
async function howToExplain(hands: Hands): Promise<string> {
  const { branch = "main" } = await hands.situation("write");
  return `Audits of this project ask for a signature of that commit, too. After it, with a pawl that is installed elsewhere: pawl unlock ${branch} --accept, then git push and pawl sync.`;
}

/** Where the project itself has taken pawl out, by moves that are explained, a clone that follows takes no key, only a typed yes. */
async function signRemoval(hands: Hands, site: Site, input: Wanted): Promise<boolean> {
  if (!(await mustSignAtTheDoor(hands, site))) return false;
  if (await hasDropped(hands, site)) {
    if (input.yes) await confirmTyped(hands, "Type yes to remove pawl: ", "yes");
    return false;
  }
  const decided = { about: "uninstall", ours: undefined, theirs: undefined, ...NOTHING_KEPT } as const;
  const reason = `pawl is removed from a clone of ${site.name}`;
  try {
    return await signAtTheDoor(hands, site, { decided, reason }, input.sign_with);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "no_key") throw error;
    const { kind, code, message, hint = "", details = {} } = error;
    throw new Failure(kind, code, message, {
      hint: `While the policy demands signatures, only one of them removes pawl, here or from the project. Once the project has dropped it, by a signed change that you pulled and synced, pawl uninstall asks you for no key.\n${hint}`,
      details,
    });
  }
}

/** What becomes of the records: one that only says that pawl was here goes with it, unasked. */
type Fate = "kept" | "forgotten" | "deleted";

function contents(state: StateFolder): string {
  const { tasks, others } = state.count();
  return others === 0
    ? plural(tasks, "task")
    : `${plural(tasks, "task")} and ${plural(others, "other record")}`;
}

const notAgreed = () =>
  new Failure("refused", "no_terminal", "There is no terminal to ask on whether pawl should be removed.", {
    hint: "Run it in a terminal, or agree in advance: pawl uninstall --yes",
  });

/** A person at a terminal is asked, a script has to say it; deleting records always asks. */
async function confirm(hands: Hands, tools: Tools, input: Wanted): Promise<Fate> {
  const { guard, installation, state, site } = tools;
  const forgettable = await hands.isStateForgettable();
  if (input.delete_state && !forgettable && !state.foreign) {
    await expectNoWork(hands, site);
    state.checkRemovable();
    await expectTerminal(hands);
    hands.say(`${contents(state)} in ${state.shown} will be deleted, with their history.`);
    await confirmTyped(hands, `Type ${site.name} to delete them: `, site.name);
    return "deleted";
  }
  const files = installation.planRemoval().filter((one) => one.do === "remove").length;
  const isThere = files > 0 || guard.rehearseDeactivation(site).length > 0;
  if (!input.yes && isThere) {
    if ((await hands.ask("")) === undefined) throw notAgreed();
    await confirmTyped(hands, `${plural(files, "file")} and the hooks. Type yes to remove pawl: `, "yes");
  }
  return forgettable ? "forgotten" : "kept";
}

/** Worktrees of tasks hold work that only their records lead to. */
async function expectNoWork(hands: Hands, site: Site): Promise<void> {
  const { worktrees } = await (await hands.git.worktrees()).look(site);
  const bound = worktrees.filter((one) => one.task !== undefined && one.present);
  const [first] = bound;
  if (!first) return;
  throw new Failure("refused", "work_under_way", `${first.task} has a worktree: ${first.path}.`, {
    hint: `Finish it first: pawl finish ${first.task} --remove --reason "…"`,
    details: { tasks: bound.map((one) => one.task) },
  });
}
