// docs/benchmarks.md from what the suites printed: every budget with its figures, the choices that follow from
// measurements, and below it everything as it was said.
import { readFileSync } from "node:fs";

const choices = readFileSync(new URL("choices.md", import.meta.url), "utf8");

/** The budgets of the design, each with the lines of a suite's table that answer it. */
export const BUDGETS = [
  {
    what: "added to `git commit` on an allowed branch by all our hooks",
    budget: "at most a third of what husky adds; ≤ 2 × a commit without hooks",
    lines: [["hooks", /\bpawl\b.*≤ 2 ×/]],
  },
  {
    what: "an agent-side hook that allows",
    budget: "≤ 1.4 × `node -e 0`",
    lines: [["agent-hooks", /budget 1\.4/]],
  },
  {
    what: "reads of one task with 1,000 tasks around it: `status`, `session`, `task show`, `check`",
    budget: "≤ 1.7 × `node -e 0`",
    lines: [["cli", /\b(?:status|session|task show|check)\b.*≤ 1\.7/]],
  },
  {
    what: "`task list` at 1,000 / 10,000 tasks",
    budget: "≤ 2.0 × / ≤ 5 × `node -e 0`",
    lines: [["cli", /\btask list\b.*≤/]],
  },
  {
    what: "`search` at 1,000 / 10,000 tasks with 50,000 records, index warm",
    budget:
      "≤ 2.5 × / ≤ 4 × `node -e 0` where Node has SQLite (22, 24), else (wasm, Node 20) ≤ 8 × / ≤ 12 ×; over MCP ≤ 10 ms median",
    lines: [
      ["search", /: search\b.*≤/],
      ["mcp", /^search, one call.*≤/],
    ],
  },
  {
    what: "`context` at 1,000 tasks",
    budget: "≤ 3 × `node -e 0`",
    lines: [["search", /: context\b.*≤/]],
  },
  {
    what: "MCP initialize / one call at 1,000 tasks",
    budget: "≤ 4 × `node -e 0` / ≤ 5 ms median",
    lines: [["mcp", /^(?:initialize|median of all).*≤/]],
  },
  {
    what: "MCP server's memory after 400 mixed calls at 1,000 tasks",
    budget: "≤ 110 MB",
    lines: [["mcp", /^memory after 400.*≤/]],
  },
  {
    what: "`pawl start` on 20,000 files",
    budget: "≤ 1.2 × `git worktree add`",
    lines: [["git", /pawl start/]],
  },
  {
    what: "`pawl run` until the agent's own process exists; `run list` with 100 runs",
    budget: "≤ 4 × `node -e 0`; ≤ 2 ×",
    lines: [["runs", /^(?:pawl run until|run list).*≤/]],
  },
  {
    what: "supervisor, waiting",
    budget: "≤ 40 MB, no measurable processor time",
    lines: [["runs", /^supervisor, waiting/]],
  },
  {
    what: "`pawl ui` until it listens; event to page; diff of 22,000 lines",
    budget: "≤ 1.8 × `node -e 0`; ≤ 50 ms; no task over 100 ms, ≤ 15,000 nodes before scrolling",
    lines: [["page", /^(?:pawl ui until|event to page|a diff of 22,000).*≤/]],
  },
  {
    what: "package unpacked; packages installed with it",
    budget: "≤ 5 MB; at most the one that cannot be bundled",
    lines: [["package", /^package/]],
  },
  {
    what: "8 processes × 500 operations with random kills",
    budget: "0 lost, 0 duplicate ids, 0 stuck locks",
    lines: [["store", /^(?:processes|kills|lost|applied twice|duplicate|torn|stuck)/]],
  },
];

/** Every budget with the figures that a run gave; none is left out because it was missed or not measured. */
export function judge(results) {
  return BUDGETS.map(({ what, budget, lines }) => {
    const found = lines.flatMap(([suite, pattern]) =>
      (results.find((one) => one.suite === suite)?.output ?? "")
        .split("\n")
        .filter((line) => pattern.test(line)),
    );
    const failed = lines.some(
      ([suite]) => suite === "store" && results.some((one) => one.suite === suite && !one.ok),
    );
    const missed = failed || found.some((line) => line.includes("MISSED"));
    const verdict = found.length === 0 ? "**not measured**" : missed ? "**missed**" : "met";
    return { what, budget, figures: found.map(compact), verdict };
  });
}

const compact = (line) => line.trim().split(/ {2,}/).join(" · ").replaceAll("|", "\\|");

const SECTION =
  /^## ([\w-]+)\n\nMeasured on ([^\n]+?); it (kept|missed) its budgets\.\n\n```text\n([\s\S]*?)\n```$/gm;

/** What the page holds of each suite, so that one can be measured again without the others. */
export const readPage = (page) =>
  [...page.matchAll(SECTION)].map(([, suite, measured, verdict, output]) => ({
    suite,
    measured,
    ok: verdict === "kept",
    output,
  }));

export function renderPage(results) {
  const judged = judge(results);
  const rows = judged.map(
    ({ what, budget, figures, verdict }) => `| ${what} | ${budget} | ${figures.join("<br>")} | ${verdict} |`,
  );
  const missed = judged.filter(({ verdict }) => verdict !== "met");
  const summary =
    missed.length === 0
      ? "Every budget was met."
      : `Not met: ${missed.map(({ what, verdict }) => `${what} (${verdict.replaceAll("*", "")})`).join("; ")}.`;
  const suites = results.map(
    ({ suite, measured, ok, output }) =>
      `## ${suite}\n\nMeasured on ${measured}; it ${ok ? "kept" : "missed"} its budgets.\n\n\`\`\`text\n${output.trimEnd()}\n\`\`\`\n`,
  );
  return `# Benchmarks

Written by \`npm run bench -- --write\`. Each time is a median over rounds in which the things compared took turns. Ratios
carry over to other machines; milliseconds do not. \`npm run bench\` measures all of it again, \`npm run bench -- cli --write\` one suite.

${summary}

| what | budget | measured | |
|---|---|---|---|
${rows.join("\n")}

${choices}
The rest of this page is the full output of every suite, alternatives included.

${suites.join("\n")}`;
}
