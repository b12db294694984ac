import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { systemGit } from "../helpers/optional-program.ts";
import type { GuardedRepository, Making } from "./guarded-repository.ts";
import type { Outcome, Row } from "./matrix-rows.ts";

export const expectedOf = (row: Row, making: Making): Outcome => rowFor(row, making).expected;

/** The row as it is meant for this git and this kind of repository. */
function rowFor(row: Row, { git = systemGit, formats }: Making): Row {
  const expected = row.since && git.isSince(row.since.version) ? row.since.expected : row.expected;
  return { ...row, expected, ...(formats && typeof row.tables === "object" ? row.tables : {}) };
}

const known = new Map<string, string>();

/** Everything that tells where the subject of a row is. */
export function stateOf(at: GuardedRepository, row: Row): string {
  const subject = row.subject ?? "refs/heads/main";
  const script = subject.startsWith("$O")
    ? 'git -C "$O" for-each-ref refs/heads/main refs/heads/master'
    : subject.startsWith("worktrees/")
      ? `cat ".git/${subject}" 2>/dev/null; ls -d .git/worktrees/*`
      : `ref="${subject}"; git rev-parse -q --verify "$ref"; git symbolic-ref -q "$ref"`;
  return at.sh(script).out;
}

/** The repository is the same before every row that prepares nothing. */
export function firstState(at: GuardedRepository, row: Row): string {
  const key = `${at.root} ${row.subject}`;
  const state = (row.setup === undefined ? known.get(key) : undefined) ?? stateOf(at, row);
  if (row.setup === undefined) known.set(key, state);
  return state;
}

const statusOf = (at: GuardedRepository) =>
  at.sh("git status --porcelain -uno; git rev-parse --abbrev-ref HEAD; ls .git | grep -v FETCH_HEAD").out;

const changesOf = (at: GuardedRepository) => at.sh("git status --porcelain -uno").out;

/** Runs a row in a repository that is as it was made. */
export function checkRow(at: GuardedRepository, told: Row): void {
  const row = rowFor(told, at.making);
  if (row.setup) expect(at.sh(row.setup).code).toBe(0);
  const [before, files] = [firstState(at, row), row.clean ? statusOf(at) : ""];
  const { code, out, err } = at.sh(row.script);
  const said = `${out}${err}`;
  const moved = stateOf(at, row) !== before;
  switch (row.expected) {
    case "refused":
      expect({ moved, failed: code !== 0 }, said).toEqual({ moved: false, failed: true });
      if (!row.byGit && !row.silent) expect(said).toMatch(/pawl: /);
      break;
    case "allowed":
      expect({ moved, code }, said).toEqual({ moved: row.moves ?? false, code: 0 });
      expect(said).not.toMatch(/pawl: warning/);
      break;
    case "tripwire":
      // One command may change a ref more than once, so that it is told of itself.
      expect({ moved, code, ...lookLater(at, said) }, said).toEqual({
        moved: true,
        code: 0,
        warned: true,
        marked: true,
      });
      expectFound(at, row);
      break;
    case "audit":
      expect({ moved, code, ...lookLater(at) }, said).toEqual({
        ...{ moved: row.moves ?? true, code: 0 },
        ...{ warned: false, marked: false },
      });
      expectFound(at, row);
  }
  if (row.clean) expect(statusOf(at)).toBe(files);
  if (row.says) expect(said).toContain(row.says);
  if (row.after) {
    expect(changesOf(at), "there is something to bring back").not.toBe("");
    expect(at.sh(row.after)).toMatchObject({ code: 0 });
    expect(changesOf(at)).toBe("");
  }
  for (const line of said.split("\n").filter((one) => one.includes("pawl: ")))
    expect(line).not.toMatch(/no-verify|hooksPath|uninstall|pawl unlock/);
}

/** What an audit says: in this clone, or as a check of what was published where a row is about the remote. */
export function auditOf(
  at: GuardedRepository,
  where: "here" | "published",
): { code: number; found: string[] } {
  const published = 'pawl sync --yes >/dev/null && git clone -q "$O" "$R/../check" && cd "$R/../check"';
  const { code, out, err } = at.sh(
    where === "here" ? "pawl audit --json" : `${published} && pawl audit --ci --json`,
  );
  expect(out, err).toMatch(/^\{/);
  const { data, error } = JSON.parse(out);
  const { branches, findings }: Told = (data ?? error.details).audit;
  const reasons = branches.flatMap((one) => one.commits.flatMap((each) => each.reason ?? []));
  return { code, found: [...reasons, ...findings.map((one) => one.code)] };
}

interface Told {
  branches: { commits: { reason?: string }[] }[];
  findings: { code: string }[];
}

function expectFound(at: GuardedRepository, row: Row): void {
  const { code, found } = auditOf(at, row.subject === "$O" ? "published" : "here");
  expect({ code, found }).toEqual({
    code: row.exit ?? 1,
    found: expect.arrayContaining([row.found ?? "moved_unguarded"]),
  });
}

/** What the next change of any ref says, here and in the other worktree. */
function lookLater(at: GuardedRepository, before = "") {
  const next = at.sh('git tag next; cd "$W" && git tag next2');
  return {
    warned: /pawl: warning: main is protected/.test(before + next.err),
    marked: existsSync(join(at.repo, ".git/pawl/tripped/main")),
  };
}
