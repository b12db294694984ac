import * as z from "zod/mini";
import { paintPatch } from "../flows/snapshot/paint-patch.ts";
import { pathOf } from "../flows/snapshot/take-snapshot.ts";
import { hasWorktrees } from "../judge/current-run.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { taskOf } from "../model/ids.ts";
import { flag, line, maybe, taskField } from "../model/input.ts";
import { printable } from "../model/printable.ts";
import { type Run, type RunSnapshot, run } from "../model/records/run.ts";
import { columns, plural, type Style, warningsOf } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Body } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import type { Remaking, SavedPatch } from "../ports/snapshots.ts";
import { procedure } from "./operation.ts";

export const diff = procedure({
  id: "diff",
  summary: "Show the saved diff of a task, repository by repository",
  details:
    "Shows what the last snapshot saved, so it works after the worktree is gone and in a clone that has only the\nstate. On a terminal it is coloured and paged; piped, it is a patch that `git apply` accepts, with a `#`\nheading for each repository. With --json the patch itself is left out: `patch_path` names it inside the state\nfolder, and `from` says whether it was read from there (`patch`) or rebuilt from the kept commit (`commit`).\n--ignore-space and --since need that commit.",
  examples: [
    "pawl diff",
    "pawl diff T7 --stat",
    "pawl diff T7 --run R1",
    "pawl diff T7 --ignore-space",
    "pawl diff T7 --since 4f1c2e9a",
    "pawl diff T7 --repo my-project | git apply",
  ],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    repo: maybe(line("only this repository", "NAME")),
    run: maybe(line("what was saved of this run (default: the latest that saved anything)", "R", 40)),
    stat: flag("only the number of changed lines in each file"),
    ignore_space: flag("leave out lines that differ only in white space"),
    since: maybe(line("only what changed since this commit, such as the one you read last", "COMMIT", 64)),
  }),

  async rehearse() {
    return [];
  },

  async perform(hands, input) {
    const { value, warnings } = await hands.look((reader, at) =>
      savedRun(reader, getTask(reader, input.task, at), input.run),
    );
    const snapshots = chosen(value, input.repo);
    const diffs: Opened[] = [];
    const how: Remaking = { since: commitIn(input.since), ignoreSpace: input.ignore_space };
    for (const snapshot of snapshots) diffs.push(await open(hands, value, snapshot, how, warnings));
    const stats = input.stat ? await Promise.all(diffs.map((one) => one.patch.stat())) : undefined;
    return {
      data: {
        diffs: diffs.map(({ snapshot, from, kept }, index) => ({
          repo: snapshot.repo,
          run: value.id,
          saved: value.updated,
          base_head: snapshot.base_head,
          commit: snapshot.commit,
          head: snapshot.head,
          files: snapshot.files,
          insertions: snapshot.insertions,
          deletions: snapshot.deletions,
          whole: snapshot.whole,
          patch_sha256: snapshot.patch_sha256,
          patch_path: pathOf(value, snapshot),
          from,
          kept,
          ...(stats ? { stat: stats[index] ?? [] } : {}),
        })),
      },
      warnings,
      ...(stats ? {} : { body: bodyOf(value, diffs) }),
    };
  },

  text: ({ diffs }, style) =>
    diffs.map((one) => `${heading(one, one, style)}\n${statOf(one.stat ?? [], style)}`).join("\n\n"),
});

interface Opened {
  snapshot: RunSnapshot;
  patch: SavedPatch;
  from: "patch" | "commit";
  /** The commit is here as well, so that there is more to read than the patch. */
  kept: boolean;
}

/** The latest run that something was saved of, or the one that is named; a run that has just begun hides nothing. */
export function savedRun(
  reader: Reader,
  task: string,
  named: string | undefined,
): { value: Run; warnings: string[] } {
  reader.task(task);
  if (named !== undefined) return { value: namedRun(reader, task, named), warnings: [] };
  const { records: all, problems } = reader.parts(run, task);
  const records = all.filter((record) => hasWorktrees(record.value));
  const found = records.findLast((record) => record.value.snapshots.length > 0);
  if (!found)
    throw new Failure("refused", "snapshot_missing", `Nothing of ${task} has been saved yet.`, {
      hint: `pawl snapshot ${task}`,
      details: { task },
    });
  const latest = records.at(-1);
  const warnings = warningsOf(problems);
  if (latest && latest !== found)
    warnings.push(`This is the diff of ${found.value.id}; nothing of ${latest.value.id} has been saved yet.`);
  return { value: found.value, warnings };
}

function namedRun(reader: Reader, task: string, named: string): Run {
  const { value } = reader.part(run, task, named.replace(/^.*\//, ""));
  if (value.snapshots.length > 0) return value;
  throw new Failure("refused", "snapshot_missing", `Nothing of ${value.id} has been saved.`, {
    hint: `pawl diff ${task}`,
    details: { task, run: value.id },
  });
}

export function chosen(value: Run, repo: string | undefined): RunSnapshot[] {
  const found = value.snapshots.filter((one) => repo === undefined || one.repo === repo);
  if (found.length > 0) return found;
  throw new Failure(
    "not_found",
    "no_repository",
    `${value.id} saved nothing in a repository called ${repo}.`,
    {
      hint: `It has ${value.snapshots.map((one) => one.repo).join(", ")}.`,
      details: { field: "repo" },
    },
  );
}

/** The patch as it was recorded, or else the same diff from the commit that was kept for this very case. */
async function open(
  hands: Hands,
  value: Run,
  snapshot: RunSnapshot,
  how: Remaking,
  warnings: string[],
): Promise<Opened> {
  const [git, sites] = [await hands.git.snapshots(), await hands.git.sites()];
  const path = pathOf(value, snapshot);
  const site = sites.all().find((one) => one.name === snapshot.repo);
  const repo = value.repos.find((one) => one.name === snapshot.repo);
  if (site && repo && !value.ended && (await git.hasMovedOn(site, repo, snapshot)))
    warnings.push(
      `${repo.branch} of ${repo.name} has moved on since; save it again with \`pawl snapshot ${taskOf(value.id)}\`.`,
    );
  const kept = site !== undefined && (await git.keeps(site, snapshot));
  if (how.since !== undefined || how.ignoreSpace) {
    const other = site && (await git.remake(site, snapshot, how));
    if (other) return { snapshot: { ...snapshot, ...other.facts }, patch: other.patch, from: "commit", kept };
    throw commitMissing(snapshot, how);
  }
  const patch = await git.open(path, snapshot.patch_sha256);
  if (patch) return { snapshot, patch, from: "patch", kept };
  const remade = site && (await git.remake(site, snapshot));
  if (!remade)
    throw new Failure(
      "unreadable",
      "patch_damaged",
      `${path} is missing or was changed, and the commit ${snapshot.commit.slice(0, 12)} is not here.`,
      {
        hint: "Get the file from the state's history or, with `pawl sync`, from another clone; or save the work again.",
        details: { file: path, repo: snapshot.repo, commit: snapshot.commit },
      },
    );
  warnings.push(`${path} is missing or was changed; the kept commit is shown instead.`);
  return { snapshot, patch: remade.patch, from: "commit", kept };
}

/** A commit by its name or the beginning of it; nothing that git would take for a branch or an option. */
function commitIn(since: string | undefined): string | undefined {
  if (since === undefined || /^[0-9a-f]{7,64}$/.test(since)) return since;
  throw new Failure("usage", "bad_input", `--since needs a commit, at least seven of its digits: ${since}`, {
    details: { field: "since" },
  });
}

function commitMissing({ repo, commit }: RunSnapshot, { since }: Remaking): Failure {
  const which = since ?? commit;
  return new Failure(
    "unavailable",
    "commit_missing",
    `${repo} does not have the commit ${which.slice(0, 12)} here; without it only the saved patch can be shown.`,
    {
      hint: "Leave out --since and --ignore-space to see the saved patch.",
      details: { repo, commit: which },
    },
  );
}

function bodyOf(value: Run, diffs: readonly Opened[]): Body {
  return async function* body({ style, terminal }) {
    const encoder = new TextEncoder();
    try {
      for (const { snapshot, patch } of diffs) {
        const title = heading(snapshot, { run: value.id, saved: value.updated }, style);
        yield encoder.encode(`${title}\n`);
        yield* terminal ? paintPatch(patch.chunks(), style) : patch.chunks();
      }
    } finally {
      for (const { patch } of diffs) patch.close();
    }
  };
}

type Counted = Pick<
  RunSnapshot,
  "repo" | "base_head" | "head" | "files" | "insertions" | "deletions" | "whole"
>;

function heading(one: Counted, { run: id, saved }: { run: string; saved: string }, style: Style): string {
  const what = `${plural(one.files, "file")}, +${one.insertions} -${one.deletions}${one.whole ? "" : ", incomplete"}`;
  const range = `${one.base_head.slice(0, 12)}..${one.head.slice(0, 12)}`;
  return `# ${style.bold(one.repo)}  ${range}  ${what}  ${style.dim(`${id}, as of ${style.times(saved)}`)}`;
}

const WIDEST_BAR = 40;

function statOf(files: Awaited<ReturnType<SavedPatch["stat"]>>, style: Style): string {
  const most = Math.max(1, ...files.map((one) => (one.insertions ?? 0) + (one.deletions ?? 0)));
  const scale = Math.min(1, WIDEST_BAR / most);
  const bar = (count: number, sign: string) => sign.repeat(Math.ceil(count * scale));
  return columns(
    files.map((one) => [
      `  ${printable(one.path).replaceAll("\n", "\ufffd")}`,
      one.insertions === undefined ? "binary" : String(one.insertions + (one.deletions ?? 0)),
      style.green(bar(one.insertions ?? 0, "+")) + style.red(bar(one.deletions ?? 0, "-")),
    ]),
  );
}
