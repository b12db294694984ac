import type { Outcome, Row } from "./matrix-rows.ts";

const WORDS: Record<Outcome, string> = {
  refused: "refused",
  allowed: "allowed",
  tripwire: "**found** by the tripwire",
  audit: "**found** by `pawl audit`",
};

const INTRODUCTION = `# What the guard holds, and what it only finds

Generated from \`test/guard/matrix-rows.ts\`, every row of which is run against real git: do not edit it by hand.

Pawl guards protected branches with git's \`reference-transaction\` hook, which git asks before it changes any ref. That
stops accidents and everything an agent does with ordinary git commands, \`--no-verify\` included. It is no wall against
somebody who switches hooks off or writes git's files by hand: nothing inside the same account can be. What gets through
that way is found afterwards, by the guard itself at the next change of any ref (the tripwire), or by \`pawl audit\`, which
a server or CI can run as well. Where \`/bin/sh\` is bash, \`SHELLOPTS=noexec\` switches every hook off too, and is found the
same way. \`pawl doctor\` says whether the guard holds now, by asking it in every worktree.

Records are believed when the log of events tells of their very text. Somebody who writes records, events and git's logs
by hand so that all of them agree is not found in that clone; on a server the branch \`pawl/state\` may only grow, and its
history shows what came when, and from whom.

* **refused**: the branch stays where it is.
* **allowed**: works as without the guard.
* **found by the tripwire**: gets through; the next change of any ref says so and leaves a mark, and \`pawl audit\` finds it too.
* **found by \`pawl audit\`**: gets through; history, reflog, ledger and settings tell.
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
    return `## ${name}\n\n| what is tried | what becomes of it | |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `${INTRODUCTION}\n${rows.length} rows: ${totals.join(", ")}.\n\n${tables.join("\n")}`;
}

function lineOf(row: Row): string {
  const newer = row.since ? `; ${WORDS[row.since.expected]} since git ${row.since.version}` : "";
  const by = row.byGit ? " by git itself" : "";
  const tables =
    typeof row.tables === "object" && row.tables.expected
      ? `; ${WORDS[row.tables.expected]} where refs lie in tables`
      : "";
  const subject = row.subject === "$O" ? "the remote's main" : row.subject?.replace(/^refs\/heads\//, "");
  const found = row.found ? `it says \`${row.found}\`` : "";
  const notes = [
    found,
    row.after ? `\`${row.after}\` brings files and index back` : "",
    row.note,
    row.clean ? "files stay as they were" : "",
    subject ? `about ${subject}` : "",
  ];
  const cell = (text: string) => text.replaceAll("|", "\\|");
  return `| ${cell(row.name)} | ${WORDS[row.expected]}${by}${newer}${tables} | ${cell(notes.filter(Boolean).join("; "))} |`;
}
