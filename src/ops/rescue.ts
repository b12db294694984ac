import * as z from "zod/mini";
import { chooseStrays, expectMovable } from "../flows/rescue/choose-strays.ts";
import { noteRescue } from "../flows/rescue/rescue-record.ts";
import { partsOf, startRunning } from "../flows/start/start-carry-out.ts";
import { otherClone } from "../flows/start/start-conflicts.ts";
import { checkHolder } from "../flows/start/start-holder.ts";
import { getRun } from "../judge/current-run.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { taskOf } from "../model/ids.ts";
import { line, many, maybe, taskField } from "../model/input.ts";
import { indent, plural, quoted } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan } from "../ports/operation.ts";
import type { MainCheckout, Placing, Saved } from "../ports/rescues.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

interface Wanted {
  task?: string | undefined;
  file?: string[] | undefined;
  repo?: string | undefined;
}

interface Rescued {
  rescued: {
    task: string;
    repo: string;
    from: string;
    worktree: string;
    files: string[];
    /** Changed in the main checkout as well, and not moved. */
    left: string[];
    /** What keeps a copy of everything that was moved. */
    ref: string | undefined;
  };
}

export const rescue = procedure({
  id: "rescue",
  summary: "Move uncommitted changes from the main checkout into a task's worktree",
  details:
    "For work that ended up in the main checkout, most often through an agent's shell command. Everything is saved\nfirst, as a commit kept by a ref under refs/pawl/rescued; then it is written into the task's worktree, next to\nwhat is uncommitted there, and only then are the main checkout's files restored to its commit. Nothing moves\nif it does not fit, or if a file changes in the meantime. Without --file it moves what agents' sessions were\nseen to change there or, if there is nothing of that kind and you are human, every change; an agent can move\nonly what such a session changed. Ignored files stay.",
  examples: ["pawl rescue", "pawl rescue T0001 --file src/upload.ts", "pawl rescue T0001 --dry-run"],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    file: many(line("only this file or folder, as git names it", "FILE", 4_096)),
    repo: maybe(line("the repository, as records call it; by default this one", "NAME", 60)),
  }),

  async rehearse(hands, input) {
    const found = await find(hands, input);
    return found.files.map((file) => ({ do: "move", path: `${file} to ${found.worktree}` }));
  },

  async perform(hands, input) {
    const id = await hands.look((reader, at) => getTask(reader, input.task, at));
    const release = (await hands.git.worktrees()).hold(id);
    if (!release) throw startRunning(id);
    try {
      return await move(hands, await find(hands, input));
    } finally {
      release();
    }
  },

  text: ({ rescued: { task, worktree, files, left, from, ref } }, style) =>
    files.length === 0
      ? `${from} has nothing to move.`
      : [
          `${plural(files.length, "file")} moved from ${from} into ${style.bold(task)}'s worktree ${worktree}:`,
          indent(files.join("\n")),
          ...(left.length === 0 ? [] : [`Still changed there, and left alone: ${left.join(", ")}`]),
          style.dim(`A copy is kept as ${ref}.`),
        ].join("\n"),
});

interface Found {
  id: string;
  site: Site;
  worktree: string;
  checkout: MainCheckout;
  files: string[];
}

async function find(hands: Hands, input: Wanted): Promise<Found> {
  const run = await hands.look((reader, at) => getRun(reader, getTask(reader, input.task, at)).value);
  const id = taskOf(run.id);
  if (!(await hands.git.worktrees()).isOurs(run.clone)) throw otherClone(run);
  await checkHolder(hands, run);
  const sites = await hands.git.sites();
  const { commonDir, name } = input.repo === undefined ? sites.here() : sites.named(input.repo);
  const part = (await partsOf(hands, run)).find(({ place }) => place.site.commonDir === commonDir);
  if (!part)
    throw new Failure("refused", "not_in_task", `${id} does not touch the repository ${name}.`, {
      hint: `Name another task, or one of its repositories with --repo: ${run.repos.map((one) => one.name).join(", ")}`,
      details: { task: id, repo: name },
    });
  const { site, path: worktree } = part.place;
  if ((await hands.git.worktrees()).whereabouts(part.place).state !== "in place")
    throw new Failure("refused", "worktree_missing", `${worktree} is gone, so nothing can be moved there.`, {
      hint: `pawl start ${id} --claim`,
      details: { task: id, worktree },
    });
  const checkout = await (await hands.git.rescues()).look(site);
  expectMovable(checkout, worktree, site.name);
  return { id, site, worktree, checkout, files: chooseStrays(checkout, input.file ?? [], hands.agent) };
}

async function move(hands: Hands, { id, site, worktree, checkout, files }: Found): Promise<Plan<Rescued>> {
  const left = [...checkout.files.filter((file) => !files.includes(file)), ...checkout.others];
  const about = { task: id, repo: site.name, from: checkout.root, worktree, files, left };
  if (files.length === 0) return { data: { rescued: { ...about, ref: undefined } } };
  const rescues = await hands.git.rescues();
  const saved = await rescues.save(site, checkout, files, id);
  const placing = await rescues.plan(saved, worktree);
  if (!placing.fits) throw doesNotFit(saved, worktree, placing);
  await rescues.place(saved, placing);
  await hands.record((reader, at) => noteRescue(reader, at, id, saved), { milestone: `${id}: rescued` });
  const said = await rescues.clear(saved);
  if (saved.staged)
    said.push(`Staged content that was in no file was not moved; it is kept: git show ${saved.ref}^2`);
  return {
    data: { rescued: { ...about, ref: saved.ref } },
    warnings: said,
    next: { command: `git -C ${quoted(worktree)} status`, reason: "look at it and commit it" },
  };
}

function doesNotFit(
  saved: Saved,
  worktree: string,
  { conflicts }: Extract<Placing, { fits: false }>,
): Failure {
  return new Failure(
    "refused",
    "does_not_fit",
    `The worktree has changed the same lines: ${conflicts.join(", ")}. Nothing was moved.`,
    {
      hint: `The changes are kept as ${saved.ref}, and the main checkout is unchanged. Combine them by hand: git -C ${quoted(worktree)} cherry-pick --no-commit ${saved.commit.slice(0, 12)}`,
      details: { worktree, files: conflicts, ref: saved.ref, commit: saved.commit },
    },
  );
}
