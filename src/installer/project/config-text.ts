import type { ProjectProposal } from "../../ports/installation.ts";

const head = (branch: string) => `# Pawl's settings for this project; every line is optional.
# Changes count once they are on ${branch}.

# How much process a new task needs: light, standard or strict.
`;
const PROTECTED = "\n# By default the remote's default branch, else main and master.\n";

export interface ConfigChoices extends Omit<ProjectProposal, "missing"> {
  profile?: string | undefined;
  protected?: readonly string[] | undefined;
  remotes?: readonly { name: string; address: string }[] | undefined;
}

/** The first `.pawl/config.yaml` of a project: the user's to edit from then on. */
export function configText(choices: ConfigChoices): string {
  const { checks, setup, from, profile, protected: branches, remotes = [] } = choices;
  const found = from.length === 0 ? "" : ` Proposed from ${from.join(", ")}.`;
  return [
    head(branches?.join(", ") ?? "the protected branch"),
    profile === undefined ? "# profile: standard\n" : `profile: ${profile}\n`,
    `\n# What \`pawl verify\` runs and the gates require.${found}\n`,
    checks.length === 0
      ? "# checks:\n#   test: npm test\n"
      : `checks:\n${checks.map(({ name, command }) => `  ${name}: ${scalar(command)}\n`).join("")}`,
    "\n# What `pawl start` runs in a new worktree, so that the checks can run there.\n",
    setup === undefined ? "# setup: npm ci\n" : `setup: ${scalar(setup)}\n`,
    PROTECTED,
    branches === undefined ? "# protected: [main]\n" : `protected: [${branches.map(scalar).join(", ")}]\n`,
    remotes.length === 0 ? "" : `${REMOTES}${remotes.map(remoteText).join("")}`,
  ].join("");
}

const REMOTES = `
# Remotes whose protected branches may be pulled. In each clone a human confirms where such a remote points.
remotes:
`;

const remoteText = ({ name, address }: { name: string; address: string }) =>
  `  - name: ${scalar(name)}\n    address: ${scalar(address)}\n`;

/** Plain where YAML cannot read anything else into it. */
const scalar = (text: string) => (/^[A-Za-z./][\w./ @+-]*[\w./]$/.test(text) ? text : JSON.stringify(text));
