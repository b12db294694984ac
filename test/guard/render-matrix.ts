import type { Outcome, Row } from "./matrix-rows.ts";

const WORDS: Record<Outcome, string> = {
  refused: "refused",
  allowed: "allowed",
  tripwire: "**found** by the tripwire",
  audit: "**found** by `pawl audit`",
};

const INTRODUCTION = `# What the guard prevents, and what it only finds

The guard keeps protected branches, usually \`main\`, from moving without a human's approval. It is git's
\`reference-transaction\` hook, which git calls before it changes any ref, so \`--no-verify\` does not skip it. It stops
accidents and whatever an agent does with ordinary git commands. [Trust](trust.md) says against whom that helps.

| if | then |
|---|---|
| you want to commit to main yourself | \`pawl unlock main --for 10m\` |
| you want what the remote has | \`git pull --ff-only\` |
| you want to know whether the guard works here | \`pawl doctor\`, which tries it in every worktree |
| something got past it | \`pawl audit\` says what and what to do |
| git stopped halfway after a refusal | the table's last column has the command, such as \`git merge --abort\` |

It cannot stop somebody who switches hooks off or writes git's files by hand: nothing in the same account can. The guard
notices that at the next change of any ref (the tripwire), and \`pawl audit\` finds it, here, in CI or on a server. Where
\`/bin/sh\` is bash, \`SHELLOPTS=noexec\` also switches every hook off, and is found the same way. Somebody who forges records,
events and git's logs so that they all agree is not found in that clone; on a server \`pawl/state\` can only grow, and
its history shows who pushed what, and when.

Below is every way to move a branch that we know. Each row is run against real git: this page is generated from
\`test/guard/matrix-rows.ts\`, so do not edit it by hand.

* **refused**: the branch stays where it is.
* **allowed**: works as without the guard.
* **found by the tripwire**: gets through; the next change of any ref reports it and leaves a mark, and \`pawl audit\` finds it too.
* **found by \`pawl audit\`**: gets through; history, reflog, ledger and settings show it.
`;

/** The table that users read, from the data that the test runs. */
export function renderMatrix(rows: readonly Row[]): string {
  const groups = [...new Set(rows.map((row) => row.group))];
  const count = (outcome: Outcome) => rows.filter((row) => row.expected === outcome).length;
  const totals = (["refused", "allowed", "tripwire", "audit"] as const).map(
    (one) => `${count(one)} ${WORDS[one]}`,
  );
  const tables = groups.map((name) => {
    const lines = rows.filter((row) => row.group === name).map(lineOf);
    return `## ${name}\n\n| what is tried | result | |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `${INTRODUCTION}\n${rows.length} rows: ${totals.join(", ")}.\n\n${tables.join("\n")}`;
}

function lineOf(row: Row): string {
  const newer = row.since ? `; ${WORDS[row.since.expected]} since git ${row.since.version}` : "";
  const by = row.byGit ? " by git itself" : "";
  const tables =
    typeof row.tables === "object" && row.tables.expected
      ? `; ${WORDS[row.tables.expected]} in a reftable repository`
      : "";
  const subject = row.subject === "$O" ? "the remote's main" : row.subject?.replace(/^refs\/heads\//, "");
  const found = row.found ? `it says \`${row.found}\`` : "";
  const notes = [
    found,
    row.after ? `\`${row.after}\` restores files and index` : "",
    row.note,
    row.clean ? "files stay as they were" : "",
    subject ? `about ${subject}` : "",
  ];
  const cell = (text: string) => text.replaceAll("|", "\\|");
  return `| ${cell(row.name)} | ${WORDS[row.expected]}${by}${newer}${tables} | ${cell(notes.filter(Boolean).join("; "))} |`;
}
