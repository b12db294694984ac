import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cleanEnv,
  LAUNCHER,
  makeProject,
  median,
  printRows,
  run,
  worktreeOf,
} from "./helpers/measured-project.ts";

/** `pawl start` against `git worktree add`, side by side. */
const ROUNDS = Number(process.argv[2] ?? 7);
const FILES = 20_000;

const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const env = cleanEnv(folder);

function writeFiles(repo: string): void {
  process.stderr.write(`making a repository of ${FILES} files …\n`);
  for (let index = 0; index < FILES; index++) {
    const inside = join(repo, "src", `part${index % 100}`);
    if (index < 100) mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, `file${index}.ts`), `export const value${index} = ${index};\n`.repeat(20));
  }
}

try {
  const repo = join(folder, "many files");
  makeProject(repo, env, writeFiles);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, env });
  const floor: number[] = [];
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const made = run([...LAUNCHER, "task", "new", `Round ${round}`, "--json"], repo, env);
    const task: string = JSON.parse(made.out).data.task.id;
    // Taken in turns, so that neither always has the warmer disk.
    const plain = () => {
      const add = ["git", "worktree", "add", "-q", "-b", `plain/${round}`, `../plain ${round}`];
      floor.push(run(add, repo, env).ms);
    };
    if (round % 2 === 0) plain();
    took.push(run([...LAUNCHER, "start", task], repo, env).ms);
    if (round % 2 === 1) plain();
    git("worktree", "remove", "--force", `../plain ${round}`);
    git("worktree", "remove", "--force", "--force", worktreeOf(repo, task));
    process.stderr.write(`start: round ${round + 1} of ${ROUNDS}\n`);
  }
  const met = printRows([
    { what: `git worktree add, ${FILES} files`, ms: median(floor), ratio: 1 },
    {
      what: `pawl start, ${FILES} files`,
      ms: median(took),
      ratio: median(took) / median(floor),
      most: 1.2,
    },
  ]);
  console.log(`medians of ${ROUNDS} interleaved rounds, Node ${process.version}`);
  process.exitCode = met ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
