import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatTaskId } from "../../src/model/ids.ts";
import { type Kind, printRecord, type ValueOf } from "../../src/model/record.ts";
import { decision, evidence, finding, handoff } from "../../src/model/records/parts.ts";
import { type Task, task } from "../../src/model/records/task.ts";

const SUBJECTS =
  "retry upload token session cache index lock branch merge review worktree parser schema render adapter hook policy grant snapshot handoff evidence budget latency queue socket timeout config locale login invoice export import search ranking thumbnail stream buffer cursor migration".split(
    " ",
  );

/** Few words are common and most are rare, as in real prose; the subjects are each in some records out of a hundred. */
const WORDS = makeWords(4_000);

function makeWords(count: number): string[] {
  const syllables = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo za".split(" ");
  const words: string[] = [];
  for (let i = 0; words.length < count; i++) {
    const at = (shift: number) => syllables[Math.floor(i / shift) % syllables.length] ?? "";
    words.push(at(1) + at(20) + at(400));
  }
  words.splice(400, SUBJECTS.length, ...SUBJECTS);
  return words;
}

/** Words that look like prose and are the same on every run. */
function prose(seed: number, count: number): string {
  const words: string[] = [];
  for (let i = 0, state = seed * 2_654_435_761; i < count; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    words.push(WORDS[Math.floor(WORDS.length * (state / 2 ** 32) ** 3)] ?? "word");
  }
  return words.join(" ");
}

/**
 * Fills a repository's state with tasks, each with four records of other kinds, as the program itself writes them.
 * The first task is the active one, one in eight is open, and the others are done, as in a project with a past.
 */
export function fillStore(
  repo: string,
  pawl: readonly string[],
  env: NodeJS.ProcessEnv,
  tasks: number,
): void {
  const [command = "node", ...args] = pawl;
  execFileSync(command, [...args, "task", "new", "The first task"], { cwd: repo, env, stdio: "ignore" });
  const state = join(repo, ".pawl", "state");
  for (let number = 1; number <= tasks; number++) writeTask(state, number);
}

export function writeTask(state: string, number: number): void {
  const id = formatTaskId(number);
  const at = new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
  const made = {
    rev: 1,
    actor: "agent:author:s1",
    created: at,
    updated: at,
    repo: "project",
    branch: "main",
    commit: undefined,
  };
  const folder = join(state, "tasks", id);
  const write = <K extends Kind>(kind: K, path: string, value: ValueOf<K>) => {
    const file = join(folder, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, printRecord(kind, value));
  };
  const value: Task = {
    ...made,
    id,
    title: `${prose(number, 6)} ${number}`,
    status: number === 1 ? "active" : number % 8 === 2 ? "open" : "done",
    profile: "standard",
    base_branch: "main",
    repos: ["project"],
    labels: [SUBJECTS[number % SUBJECTS.length] ?? "word"],
    depends_on: number > 2 ? [formatTaskId(number - 1)] : [],
    parent: undefined,
    blocker: undefined,
    next: [],
    archived: false,
    plan_digest: undefined,
    plan_by: undefined,
    slices: [],
    branch: undefined,
    objective: prose(number + 1, 60),
    plan: prose(number + 2, 120),
    acceptance: prose(number + 3, 30),
    notes: "",
  };
  write(task, "task.md", value);
  const files = [`src/${prose(number, 1)}.ts`];
  write(decision, "decisions/D1.md", {
    ...{ ...made, id: `${id}/D1`, slice: undefined, changed: files },
    ...{ what: prose(number + 4, 12), why: prose(number + 5, 80) },
  });
  write(finding, "findings/F1.md", {
    ...{
      ...made,
      id: `${id}/F1`,
      severity: "medium",
      kind: "branch",
      status: "open",
      file: files[0],
      line: 7,
    },
    ...{
      line_sha256: undefined,
      plan_digest: undefined,
      resolved_commit: undefined,
      resolved_by: undefined,
      integrated_commit: undefined,
      reopened: 0,
      reopened_at: undefined,
    },
    ...{ text: prose(number + 6, 60), fix: prose(number + 7, 20), resolution: "", reopen_reasons: "" },
  });
  write(evidence, "evidence/E1.md", {
    ...{ ...made, id: `${id}/E1`, kind: "check", check: "test", run: undefined, slice: undefined },
    argv: ["npm", "test"],
    ...{ tests_nothing: false, programs: [], environment: undefined },
    ...{ exit_code: 0, duration_ms: 1200, output_sha256: "0".repeat(64), output_bytes: 900 },
    ...{ head: undefined, tree: undefined, dirty: false, unstable: false, output: prose(number + 8, 100) },
  });
  write(handoff, "handoffs/H1.md", {
    ...{
      ...made,
      id: `${id}/H1`,
      run: undefined,
      automatic: false,
      from_commits: false,
      children: [],
      changed: files,
      validation: ["npm test: passed"],
    },
    ...{ what: prose(number + 9, 40), blocker: "", next: prose(number + 10, 15) },
  });
}
