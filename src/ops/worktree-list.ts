import * as z from "zod/mini";
import { latestPlace } from "../judge/current-run.ts";
import { standingOf } from "../judge/runs/standing.ts";
import { taskOf } from "../model/ids.ts";
import { LIVE } from "../model/lifecycle.ts";
import { type Run, run } from "../model/records/run.ts";
import { columns, plural, type Style } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Reader } from "../ports/ports.ts";
import type { Site } from "../ports/sites.ts";
import type { KnownWorktree, RepositoryLook } from "../ports/worktrees.ts";
import { procedure } from "./operation.ts";

/** One linked worktree of one repository; what belongs to no task has neither run nor holder. */
interface Listed {
  task: string | null;
  run: string | null;
  /** How its run stands: `held`, `kept`, `running` … */
  state: string | null;
  repo: string;
  branch: string | null;
  base_branch: string | null;
  path: string;
  holder: string | null;
  files: "clean" | "dirty" | "gone";
  /** Commits that only the branch has, and that only its base has. */
  ahead: number | null;
  behind: number | null;
}

export const worktreeList = procedure({
  id: "worktree.list",
  summary: "List worktrees: task, run, branch, holder, clean or dirty, ahead and behind",
  details:
    "Lists every linked worktree that git knows in the project's repositories on this machine, including your own.\nA task's worktree whose folder was deleted is listed as gone.",
  examples: ["pawl worktree list", "pawl worktree list --json"],
  access: "read",
  input: z.strictObject({}),

  rehearse: async () => [],

  async perform(hands) {
    const worktrees = await hands.git.worktrees();
    const listed: Listed[] = [];
    for (const site of (await hands.git.sites()).all()) {
      const look = await worktrees.look(site);
      const linked = look.worktrees.filter((one) => one.gitDir !== ".");
      const runs = await hands.look((reader) => runsAt(reader, linked));
      for (const one of linked) listed.push(await describe(hands, site, look, one, runs));
      const gone = runs.filter((value) => worktrees.isOurs(value.clone) && !isThere(value, site, linked));
      for (const value of gone)
        if (value.repos.some((repo) => repo.name === site.name)) listed.push(goneFrom(site, value));
    }
    const lost = listed.find((one) => one.files === "gone" && one.task !== null);
    return {
      data: { worktrees: listed },
      next: lost && { command: `pawl start ${lost.task} --claim`, reason: `makes ${lost.path} again` },
    };
  },

  text: ({ worktrees }, style) =>
    worktrees.length === 0 ? "no worktrees" : columns(worktrees.map((one) => row(one, style))),
});

/** The runs of what is checked out, whatever became of its task, and of everything under way. */
function runsAt(reader: Reader, linked: readonly KnownWorktree[]): Run[] {
  const live = reader.current().tasks.filter((one) => LIVE.includes(one.status));
  const tasks = new Set([...live.map((one) => one.id), ...linked.flatMap((one) => one.task ?? [])]);
  return [...tasks].flatMap((id) => {
    if (!reader.hasTask(id)) return [];
    const latest = latestPlace(reader.parts(run, id).records)?.value;
    return latest && latest.status !== "starting" ? [latest] : [];
  });
}

const isThere = (value: Run, site: Site, linked: readonly KnownWorktree[]) =>
  linked.some((one) => one.task === taskOf(value.id)) ||
  // One that was adopted with --here may be the main worktree, which is never gone.
  value.repos.some((repo) => repo.name === site.name && repo.adopted);

async function describe(
  hands: Hands,
  site: Site,
  look: RepositoryLook,
  { task, branch, path, present }: KnownWorktree,
  runs: readonly Run[],
): Promise<Listed> {
  const value = runs.find((one) => taskOf(one.id) === task);
  const base = value?.repos.find((repo) => repo.name === site.name)?.base_branch;
  const [tip, onto] = [branch, base].map((name) => (name === undefined ? undefined : look.heads.get(name)));
  const apart = tip && onto ? await (await hands.git.targets()).apart(site, tip, onto) : undefined;
  const dirty = present && (await (await hands.git.worktrees()).isDirty(path));
  return {
    task: task ?? null,
    run: value?.id ?? null,
    state: value ? standingOf(value, undefined).state : null,
    repo: site.name,
    branch: branch ?? null,
    base_branch: base ?? null,
    path,
    holder: value?.holder ?? null,
    files: present ? (dirty ? "dirty" : "clean") : "gone",
    ahead: apart?.left ?? null,
    behind: apart?.right ?? null,
  };
}

function goneFrom(site: Site, value: Run): Listed {
  const repo = value.repos.find((one) => one.name === site.name);
  return {
    task: taskOf(value.id),
    run: value.id,
    state: standingOf(value, undefined).state,
    repo: site.name,
    branch: repo?.branch ?? null,
    base_branch: repo?.base_branch ?? null,
    path: repo?.worktree ?? "",
    holder: value.holder,
    files: "gone",
    ahead: null,
    behind: null,
  };
}

function row(one: Listed, style: Style): string[] {
  const files = { clean: style.green, dirty: style.yellow, gone: style.red }[one.files];
  const apart =
    one.ahead === null || one.behind === null
      ? ""
      : one.ahead + one.behind === 0
        ? `level with ${one.base_branch}`
        : [
            one.ahead > 0 && `${plural(one.ahead, "commit")} ahead`,
            one.behind > 0 && `${one.behind} behind ${one.base_branch}`,
          ]
            .filter(Boolean)
            .join(", ");
  return [
    style.bold(one.run ?? one.task ?? "no task"),
    one.state ?? "",
    one.repo,
    one.branch ?? "detached",
    files(one.files),
    apart,
    one.holder ?? "",
    style.dim(one.path),
  ];
}
