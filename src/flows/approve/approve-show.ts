import { evidence, finding, handoff, review } from "../../model/records/parts.ts";
import { firstLine, plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Candidate, CandidateRepo } from "./approve-candidate.ts";

/** What a human sees before being asked; told line by line, because nothing of it is a result. */
export async function showCandidate(hands: Hands, candidate: Candidate): Promise<void> {
  const { task, repos } = candidate;
  hands.say(`\n${task.id} ${task.title}  (${task.profile})`);
  for (const repo of repos) for (const line of await showRepository(hands, repo)) hands.say(line);
  const trees = new Map(repos.map((repo) => [repo.name, repo.tree]));
  for (const line of await hands.look((reader) => showRecords(reader, task.id, trees))) hands.say(line);
  hands.say("");
}

async function showRepository(hands: Hands, repo: CandidateRepo): Promise<string[]> {
  const targets = await hands.git.targets();
  const { site, name, branch, base_branch, base, head } = repo;
  const { commits, total, stat } = await targets.story(site, base, head);
  const checkouts = await targets.checkouts(site, base_branch);
  const where =
    checkouts.length === 0 ? "checked out nowhere" : `checked out clean in ${checkouts.join(", ")}`;
  return [
    `\n${name}: ${branch} (${short(head)}) into ${base_branch}`,
    `  ${base_branch} is at ${short(base)}, not moved since the check, ${where}`,
    `  ${plural(total, "commit")}:`,
    ...commits.map((one) => `    ${one.id} ${firstLine(one.subject, 90)}`),
    ...(total > commits.length ? [`    … and ${total - commits.length} more`] : []),
    ...stat.map((line) => `  ${line}`),
  ];
}

function showRecords(reader: Reader, task: string, trees: ReadonlyMap<string, string>): string[] {
  const values = <T>(found: { records: { value: T }[] }) => found.records.map((one) => one.value);
  const proofs = values(reader.parts(evidence, task)).filter(
    (one) => one.tree !== undefined && trees.get(one.repo ?? "") === one.tree,
  );
  const findings = values(reader.parts(finding, task));
  const reviews = values(reader.parts(review, task));
  const last = values(reader.parts(handoff, task)).at(-1);
  const statuses = [...new Set(findings.map((one) => one.status))].map(
    (status) => `${findings.filter((one) => one.status === status).length} ${status}`,
  );
  return [
    "\nEvidence on exactly this tree:",
    ...proofs.map(
      (one) =>
        `  ${one.id} ${one.check ?? one.argv.join(" ")}: exit ${one.exit_code}${one.unstable ? ", unstable" : ""} (${one.repo})`,
    ),
    `Findings: ${statuses.join(", ") || "none"}`,
    `Reviews: ${reviews.map((one) => `${one.id} ${one.kind} ${one.verdict} by ${one.actor}${one.counts ? "" : " (does not count)"}`).join("; ") || "none"}`,
    ...(last ? [`Last handoff, ${last.id}: ${firstLine(last.what, 200)}`] : []),
  ];
}

export const short = (commit: string) => commit.slice(0, 12);
