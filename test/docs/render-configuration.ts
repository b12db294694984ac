import { type Config, parseConfig, readConfigText } from "../../src/model/config.ts";
import { fullYaml } from "../../src/model/markdown/full-yaml.ts";

interface Key {
  describe: string;
  /** What a user could write; the test reads it with the program's own reader. */
  example: string;
  /** Something that is refused, with the program's own words. */
  wrong: string;
}

/** Typed by the settings themselves: a new key without its lines here does not compile. */
const KEYS: Record<keyof Config, Key> = {
  profile: {
    describe:
      "How much process a new task needs. `light`: the checks pass on the final tree, no finding is open, there is a handoff, a human approves. `standard`: also a review of the branch by somebody else. `strict`: also a reviewed plan, and slices that were red, then green.",
    example: "profile: light",
    wrong: "profile: relaxed",
  },
  base_branch: {
    describe: "Where tasks start and merge into. Without it, the branch you are on when you make the task.",
    example: "base_branch: main",
    wrong: "base_branch: [main]",
  },
  checks: {
    describe:
      "What `pawl verify` runs when no command is given, and what the gates require on the final tree. A text is given to `sh -c`, a list is run as it is. Without it, any command that could fail is a check; `checks: none`, committed on the base, is how a project without tests closes its tasks, and every approval says so.",
    example: "checks:\n  test: npm test\n  lint: [npx, biome, check, .]",
    wrong: "checks: npm test",
  },
  scratch: {
    describe:
      "Where agents' file tools may write in the main checkout: patterns such as `notes/**`, for files that git does not track. Without it, whatever git ignores; `[]` is nowhere. New files there are not told as astray. Only the copy that is committed in that checkout counts.",
    example: "scratch: [notes/**, tmp/]",
    wrong: "scratch:\n  a: b",
  },
  setup: {
    describe:
      "What `pawl start` runs at the top of a new worktree, so that the checks can run there. A text is given to `sh -c`, a list is run as it is. What fails is told and can be repeated by hand; it never counts as evidence.",
    example: "setup: npm ci",
    wrong: "setup:\n  a: b",
  },
  env: {
    describe:
      "Variables for checks. They run with the `PATH` and the tools' homes (`JAVA_HOME`, `VIRTUAL_ENV`, `NVM_DIR` and the like) of the shell that a human installed pawl from, the caller's language and proxies, and nothing else. A name without a value is taken from the caller. Only the copy that the base branch has committed counts.",
    example: 'env:\n  CI: "true"\n  DATABASE_URL: ""',
    wrong: "env: CI",
  },
  recheck: {
    describe:
      "Whether `pawl approve` runs the required checks once more before it asks, on the commit that would be merged, in a worktree of their own. Evidence is a file, and whoever writes a record and its event by hand is stopped by nothing else. Only the copy that the base branch has committed counts.",
    example: "recheck: true",
    wrong: "recheck: always",
  },
  style: {
    describe:
      "How `pawl approve` brings a task's work into its base, unless `--style` says otherwise: `merge` makes a merge commit, `squash` one commit with the tree that was checked, `ff` brings the base forward to the very commit that was checked. Only the copy that the base branch has committed counts.",
    example: "style: squash",
    wrong: "style: rebase",
  },
  format: {
    describe:
      "What the files of a commit have to pass: commands by git pathspec, or one command for all; `{files}` stands for the files' names. The guard's `pre-commit` hook runs it at the top of the worktree. It counts once the protected branch has it by an approval or from the remote, or when a person runs `pawl install`: an edited copy alone makes nobody run it.",
    example: 'format:\n  "*.ts": npx biome check {files}',
    wrong: "format: [biome]",
  },
  protected: {
    describe:
      "Branches that the guard protects, with `*` as a wildcard. Without it, the remote's default branch, else `main` and `master`.",
    example: "protected: [main, release/*]",
    wrong: "protected: main",
  },
  remotes: {
    describe:
      "Remotes whose protected branches may be pulled, each with its address. A clone trusts one once a human has confirmed where it leads there (`pawl remote trust`; `pawl install` proposes it); with this list, none but these. `guarded: true`: whatever reaches its protected branches needs an approval, too. Without it, each clone's human decides.",
    example: "remotes:\n  - name: origin\n    address: git@example.com:team/shop.git\n    guarded: true",
    wrong: "remotes: [origin]",
  },
  approvals: {
    describe:
      "What makes a human's yes. `terminal`: the task's id, typed on a terminal that no agent started. `signed`: also the signature of a key that is enrolled with `pawl approver add`; then every audit checks it, every trusted remote is guarded, and `unlock`, `sync --ours`, changes of this file and of the approvers are signed as well. Only the copy on the protected branch counts.",
    example: "approvals: signed",
    wrong: "approvals: none",
  },
  level: {
    describe:
      "What a signature has to say at least. `present`: an authenticator vouches that somebody touched it (security keys, passkeys). `possession`: any enrolled key, also one that every program of yours can use. Counts with `approvals: signed`.",
    example: "level: possession",
    wrong: "level: none",
  },
  branch: {
    describe: "The name of a task's branch. `{id}` and `{slug}` stand for its id and its title.",
    example: 'branch: "work/{id}"',
    wrong: "branch: [a]",
  },
  worktree: {
    describe: "Where a task's worktree goes, from the top of the main worktree.",
    example: 'worktree: "../{id}"',
    wrong: "worktree: [a]",
  },
  agents: {
    describe:
      "Agents that `pawl run --agent` can start. `claude`, `codex` and `copilot` are known; here they get a `model`, more words for their command line (`args`) and `prices` in US dollars for a million tokens, from which the cost is computed where the program does not tell it. Any other name needs a `command` that takes a prompt on standard input: a text is given to `sh -c`, a list is run as it is.",
    example:
      "agents:\n  codex:\n    model: gpt-5\n    prices: { input: 1.25, cached: 0.125, output: 10 }\n  mine:\n    command: ./tools/agent.sh",
    wrong: "agents: claude",
  },
  runs: {
    describe:
      "Who may start, stop and resume runs: a `human` only, or `agents` as well. Only the copy that the base branch has committed counts.",
    example: "runs: agents",
    wrong: "runs: everybody",
  },
  runner: {
    describe:
      "Where agents run: a command that the agent's own is added to, such as a container's. `{worktree}`, `{common}` (the git directory), `{attempt}` (the folder of the run's files) and `{name}` are filled in. Without it, they run here.",
    example:
      "runner: docker run --rm -i --name {name} -v {worktree}:{worktree} -v {common}:{common} -w {worktree} my-agents",
    wrong: "runner: {}",
  },
  runner_stop: {
    describe: "What ends a run that its runner put out of reach of signals.",
    example: "runner_stop: docker kill {name}",
    wrong: "runner_stop: {}",
  },
};

const PATH = ".pawl/config.yaml";
const readConfig = (text: string) => readConfigText(PATH, text, fullYaml);

export function renderConfiguration(): string {
  const defaults = parseConfig(PATH, new Map());
  const sections = (Object.keys(defaults) as (keyof Config)[]).map((name) => {
    const { describe, example, wrong } = KEYS[name];
    const fallback = JSON.stringify(defaults[name]);
    if (JSON.stringify(readConfig(example)[name]) === fallback)
      throw new Error(`The example of ${name} is its default, and shows nothing.`);
    return [
      `## ${name}\n`,
      `${describe}\n`,
      ...(fallback === '""' || fallback === "[]" ? [] : [`Default: \`${fallback}\`.\n`]),
      `\`\`\`yaml\n${example}\n\`\`\`\n`,
      `\`${wrong.replaceAll("\n", " ")}\` is refused: ${refusal(wrong)}\n`,
    ].join("\n");
  });
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

function refusal(text: string): string {
  try {
    readConfig(text);
  } catch (error) {
    return `\`\`${(error as Error).message}\`\``;
  }
  throw new Error(`${text} is not refused`);
}

const INTRODUCTION = `# Configuration

Generated from the settings' own reader by \`test/docs/generated.test.ts\`: do not edit it by hand.

\`.pawl/config.yaml\` is tracked with your project and optional; every key has a default. An unknown key or a wrong value is an
error that names the file, the key and a correct example, never something that is quietly ignored.

**Policy is what is committed on the tip of the protected branch.** The gates go by that copy
([test/ops/hostile-gate.test.ts](../test/ops/hostile-gate.test.ts)); a copy on a task's own branch can only add to it, so an
agent cannot loosen the rules it works under.

\`.worktreeinclude\`, beside it at the top of the repository, names ignored files such as \`.env\` that every new worktree gets a
copy of, with the patterns of \`.gitignore\`.
`;
