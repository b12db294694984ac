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
      "How much process a new task needs. `light`: the checks pass on the final tree, no finding is open, there is a handoff, and a human approves. `standard`: somebody else also reviews the branch. `strict`: the plan is reviewed too, and each slice has a test that first failed and then passed.",
    example: "profile: light",
    wrong: "profile: relaxed",
  },
  base_branch: {
    describe:
      "The branch that tasks start from and merge into. By default the one you are on when you create the task.",
    example: "base_branch: main",
    wrong: "base_branch: [main]",
  },
  checks: {
    describe:
      "The project's checks: `pawl verify` runs them when you give it no command, and the gates require them on the final tree. A string goes to `sh -c`; a list runs without a shell. Without this key, any command that could fail counts as a check. A project without tests commits `checks: none` on its base branch, and every approval says so.",
    example: "checks:\n  test: npm test\n  lint: [npx, biome, check, .]",
    wrong: "checks: npm test",
  },
  scratch: {
    describe:
      "Where agents' file tools may write untracked files in the main checkout, as patterns such as `notes/**`; `[]` means nowhere. By default they may write what git ignores. Pawl does not report new files there as misplaced. Only the copy committed in that checkout counts.",
    example: "scratch: [notes/**, tmp/]",
    wrong: "scratch:\n  a: b",
  },
  setup: {
    describe:
      "A command that `pawl start` runs at the top of each new worktree, so that the checks can run there. In a clone in which nobody has installed pawl, it is named and not run. A string goes to `sh -c`; a list runs without a shell. If it fails, the worktree stays and `pawl start` says how to run it again. It never counts as evidence.",
    example: "setup: npm ci",
    wrong: "setup:\n  a: b",
  },
  env: {
    describe:
      "Environment variables for checks. Checks get the `PATH`, the tool homes (`JAVA_HOME`, `VIRTUAL_ENV`, `NVM_DIR` and the like), the language, `TZ`, `USER`, `CI` and the certificates (`SSL_CERT_FILE`, `NODE_EXTRA_CA_CERTS` and the like) of the shell from which a human installed pawl, because tests depend on these. From the caller they get `TMPDIR` and the proxy settings, because a sandbox allows no other; everything else has to be named here. An empty value takes the caller's. Only the copy committed on the base branch counts.",
    example: 'env:\n  CI: "true"\n  DATABASE_URL: ""',
    wrong: "env: CI",
  },
  recheck: {
    describe:
      "Whether `pawl approve` runs the required checks once more before it asks, in a separate worktree, on the commit that would be merged. Nothing else stops evidence that was forged together with its event. On by default under `approvals: signed`. Only the copy committed on the base branch counts.",
    example: "recheck: true",
    wrong: "recheck: always",
  },
  style: {
    describe:
      "How `pawl approve` merges, unless `--style` says otherwise: `merge` makes a merge commit, `squash` one commit with the tree that was checked, and `ff` fast-forwards to the commit that was checked. Only the copy committed on the base branch counts.",
    example: "style: squash",
    wrong: "style: rebase",
  },
  format: {
    describe:
      "Format checks that the guard's `pre-commit` hook runs at the top of the worktree: commands by git pathspec, or one command for all files; `{files}` stands for the file names. A change takes effect once it is approved or pulled onto the protected branch, or when a human runs `pawl install`; editing a copy makes nobody run it.",
    example: 'format:\n  "*.ts": npx biome check {files}',
    wrong: "format: [biome]",
  },
  protected: {
    describe:
      "The branches that the guard protects; `*` is a wildcard. By default the remote's default branch, else `main` and `master`.",
    example: "protected: [main, release/*]",
    wrong: "protected: main",
  },
  remotes: {
    describe:
      "The only remotes whose protected branches may be pulled. `pawl install` trusts one of them in its clone if its address is the one listed here; a remote at another address only once a human has confirmed it (`pawl remote trust`, or when `pawl install` asks). The first `pawl install` of a project, unless an agent runs it, trusts the upstream's remote and lists it here. With `guarded: true`, commits on the remote's protected branches need an approval too. Without this key, the human at each clone decides which remotes to trust.",
    example: "remotes:\n  - name: origin\n    address: git@example.com:team/shop.git\n    guarded: true",
    wrong: "remotes: [origin]",
  },
  approvals: {
    describe:
      "What an approval needs. `terminal`: a human types the task's id on a terminal that no agent started. `signed`: a key enrolled with `pawl approver add` signs as well. Then every audit verifies the signature, every trusted remote counts as guarded, and `unlock`, `sync --ours`, and changes to this file or to the approvers have to be signed too. Only the copy on the protected branch counts. [Approvals](approve.md) says how to begin.",
    example: "approvals: signed",
    wrong: "approvals: none",
  },
  level: {
    describe:
      "What a signature has to prove, with `approvals: signed`. `present`: somebody touched the key (security keys, passkeys). `possession`: any enrolled key will do, even one that every program of yours can use.",
    example: "level: possession",
    wrong: "level: none",
  },
  branch: {
    describe:
      "The name of a task's branch. `{id}` is the task's id, `{slug}` its title in lower case with dashes.",
    example: 'branch: "work/{id}"',
    wrong: "branch: [a]",
  },
  worktree: {
    describe:
      "Where a task's worktree goes, relative to the main worktree: below a hidden folder, or beside the project.",
    example: 'worktree: "../{id}"',
    wrong: "worktree: [a]",
  },
  agents: {
    describe:
      "Agents that `pawl run --agent` can start. For `claude`, `codex` and `copilot` you can set a `model`, extra arguments (`args`), and `prices` in US dollars per million tokens, from which pawl computes the cost if the program does not report it. Any other name needs a `command` that reads a prompt from standard input: a string goes to `sh -c`; a list runs without a shell.",
    example:
      "agents:\n  codex:\n    model: gpt-5\n    prices: { input: 1.25, cached: 0.125, output: 10 }\n  mine:\n    command: ./tools/agent.sh",
    wrong: "agents: claude",
  },
  runs: {
    describe:
      "Who may start, stop and resume runs: only a `human`, or `agents` too. Only the copy committed on the base branch counts.",
    example: "runs: agents",
    wrong: "runs: everybody",
  },
  runner: {
    describe:
      "Runs agents somewhere else, such as in a container: a command to which pawl appends the agent's own. It fills in `{worktree}`, `{common}` (the git directory), `{attempt}` (the folder with the run's files) and `{name}`. By default agents run as plain processes.",
    example:
      "runner: docker run --rm -i --name {name} -v {worktree}:{worktree} -v {common}:{common} -w {worktree} my-agents",
    wrong: "runner: {}",
  },
  runner_stop: {
    describe: "How to stop a run that signals do not reach, such as one in a container.",
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
      ...(fallback === undefined || fallback === '""' || fallback === "[]"
        ? []
        : [`Default: \`${fallback}\`.\n`]),
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

Pawl's settings are in \`.pawl/config.yaml\`, tracked with your project. The file is optional, and so is every key.

| you want to | key |
|---|---|
| say what has to pass before a merge | [checks](#checks), [setup](#setup), [env](#env) |
| need no reviewer for everyday work | [profile](#profile) |
| protect more branches than \`main\` | [protected](#protected) |
| squash or fast-forward | [style](#style) |
| have approvals signed | [approvals](#approvals), [level](#level) |
| let agents run in a container, or add one of your own | [runner](#runner), [agents](#agents) |

**The copy that is committed on the protected branch counts**
([test/ops/hostile-gate.test.ts](../test/ops/hostile-gate.test.ts)). A copy on a task's branch can add to it but not loosen it, so an
agent cannot change the rules it works under. To change a setting, commit it in a task and approve that.

Pawl ignores no mistake: an unknown key or a wrong value is an error that names the file, the key and a correct example.

\`.worktreeinclude\`, at the top of the repository, lists ignored files such as \`.env\` that pawl copies into every new worktree. It uses the
patterns of \`.gitignore\`.

This page is generated by \`test/docs/generated.test.ts\` from the code that reads the settings: do not edit it by hand.
`;
