import { mustSign } from "../../judge/keys.ts";
import { validationsOf } from "../../judge/validation.ts";
import { isHuman } from "../../model/actor.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import { fold, quoteLine } from "../../model/printable.ts";
import {
  type Evidence,
  evidence,
  type Finding,
  finding,
  handoff,
  type Review,
  review,
} from "../../model/records/parts.ts";
import type { MergeStyle } from "../../model/statement.ts";
import { testsNothing } from "../../model/tests-nothing.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Candidate, CandidateRepo } from "./approve-candidate.ts";

/** The kept PATH is a file that an agent can write; the shell of whoever approves is not. */
async function unknownTools(hands: Hands): Promise<string[]> {
  const folders = (await hands.git.installation()).foreignFolders();
  if (folders.length === 0) return [];
  const shown = folders.map((one) => quoteLine(one, 100)).join(", ");
  return [
    `Checks look for programs in ${shown}, which your shell does not. To use your shell's: pawl doctor --fix`,
  ];
}

/**
 * What a human sees before being asked. Everything that others wrote is one quoted line, so
 * that no record can imitate our screen; anything unusual comes first.
 */
export async function showCandidate(hands: Hands, candidate: Candidate): Promise<void> {
  const { task, repos, receipt } = candidate;
  const shown = await hands.look((reader) => showRecords(reader, task.id, repos));
  const say = (line: string) => hands.say(line.includes('"') ? fold(line, FURTHER) : line);
  say(`\n${task.id} ${quoteLine(task.title)}  (${task.profile})`);
  const unchecked = repos
    .filter((one) => one.unchecked)
    .map((one) => `The policy of ${one.name} requires no checks (checks: none).`);
  const tools = await unknownTools(hands);
  for (const line of [...tools, ...changesOfPolicy(repos), ...unchecked, ...shown.unusual])
    say(`  ! ${line}`);
  say(`  objective   ${task.objective === "" ? "none recorded" : quoteLine(task.objective)}`);
  if (task.acceptance !== "") say(`  acceptance  ${quoteLine(task.acceptance)}`);
  for (const repo of repos) for (const line of await showRepository(hands, repo)) say(line);
  for (const line of shown.lines) say(line);
  say(`Receipt ${digits(receipt)}\n`);
}

/** What the rest of a long line stands behind. */
const FURTHER = "      : ";

/** Enough of a receipt to compare it in two places. */
export const digits = (receipt: string) => receipt.slice(0, 16).replace(/(.{4})(?=.)/g, "$1 ");

const changesOfPolicy = (repos: readonly CandidateRepo[]) =>
  repos
    .filter(({ keys: { before, after } }) => before.digests.policy !== after.digests.policy)
    .map((one) => `It changes the policy of ${one.name}, ${POLICY_FILE}.`);

async function showRepository(hands: Hands, repo: CandidateRepo): Promise<string[]> {
  const targets = await hands.git.targets();
  const { site, name, branch, base_branch, base, head } = repo;
  const { commits, total, stat } = await targets.story(site, base, head);
  const checkouts = await targets.checkouts(site, base_branch);
  const where =
    checkouts.length === 0 ? "not checked out anywhere" : `checked out clean in ${checkouts.join(", ")}`;
  return [
    `\n${name}: ${branch} (${short(head)}) into ${base_branch}${STYLES[repo.style]}${repo.guarded ? "" : ", which is not protected"}`,
    `  ${base_branch} is at ${short(base)}, unchanged since the check, ${where}`,
    `  ${plural(total, "commit")}:`,
    ...commits.map((one) => `    ${one.id} ${quoteLine(one.subject, 90)}`),
    ...(total > commits.length ? [`    … and ${total - commits.length} more`] : []),
    ...stat.map((line) => `  ${quoteName(line)}`),
  ];
}

/** One line of the summary of changes: a name of a file that is more than a plain one stands in quotes. */
function quoteName(line: string): string {
  const end = line.lastIndexOf(" | ");
  const name = line.slice(0, end).trim();
  return end < 0 || /^[\w./@+-]+$/.test(name) ? line : ` ${quoteLine(name, 200)}${line.slice(end)}`;
}

const STYLES: Readonly<Record<MergeStyle, string>> = {
  merge: "",
  squash: " as one commit with the same tree (squash)",
  ff: ", fast-forwarded to that commit (ff)",
};

interface ShownRecords {
  /** What a human should know before reading on. */
  unusual: string[];
  lines: string[];
}

export function showRecords(
  reader: Reader,
  task: string,
  repos: readonly Pick<CandidateRepo, "name" | "tree" | "keys">[],
): ShownRecords {
  const trees = new Map(repos.map((repo) => [repo.name, repo.tree]));
  const values = <T>(found: { records: { value: T }[] }) => found.records.map((one) => one.value);
  const proofs = values(reader.parts(evidence, task)).filter(
    (one) => one.tree !== undefined && trees.get(one.repo ?? "") === one.tree,
  );
  const findings = values(reader.parts(finding, task));
  const reviews = values(reader.parts(review, task));
  const last = values(reader.parts(handoff, task)).at(-1);
  const aside = findings.filter((one) => one.status === "deferred" || one.status === "wontfix");
  return {
    unusual: [
      ...whatDidNotRun(proofs),
      ...proofs
        .filter((one) => testsNothing(one.argv))
        .map((one) => `${one.id} tests nothing: ${quoteLine(one.argv.join(" "), 80)}`),
      ...proofs
        .filter((one) => one.environment === "caller")
        .map(
          (one) =>
            `${one.id} ran with the PATH of ${quoteLine(one.actor, 60)}, not with the one recorded at install.`,
        ),
      ...proofs.filter((one) => one.unstable).map((one) => `${one.id} changed files while it ran.`),
      ...(aside.length > 0
        ? [`${plural(aside.length, "finding")} set aside without a fix; the reasons are below.`]
        : []),
      ...(repos.some((one) => mustSign(one.keys.before)) ? unsignedWords(reviews, aside) : []),
      ...(last && last.blocker !== ""
        ? [`The last handoff names a blocker: ${quoteLine(last.blocker)}`]
        : []),
    ],
    lines: [
      `\nEvidence on exactly this tree:${proofs.length === 0 ? " none" : ""}`,
      ...proofs.map(
        (one) =>
          `  ${one.id} ${one.check ?? quoteLine(one.argv.join(" "), 120)}: exit ${one.exit_code}${one.unstable ? ", unstable" : ""} (${one.repo})`,
      ),
      ...showFindings(findings),
      reviews.length === 0 ? "Reviews: none" : "Reviews:",
      ...reviews.map(
        (one) =>
          `  ${one.id} ${one.kind} ${one.verdict} by ${quoteLine(one.actor, 80)}${one.counts ? "" : " (does not count)"}`,
      ),
      ...(last?.from_commits
        ? // Written by us a moment ago: what it says beyond the commits stands above.
          [`Handoff, ${last.id}, written from the commits: ${quoteLine(last.what, 200)}`]
        : []),
      ...(last && !last.from_commits
        ? [
            `Last handoff, ${last.id}: ${quoteLine(last.what, 200)}`,
            `  next ${quoteLine(last.next, 200)}`,
            ...validationsOf(last, proofs).map(
              (one) =>
                `  ${one.evidence === undefined ? "claims, without evidence on this tree," : `${one.evidence.id}, exit ${one.evidence.exit_code}:`} ${quoteLine(one.line, 160)}`,
            ),
          ]
        : []),
    ],
  };
}

function whatDidNotRun(proofs: readonly Evidence[]): string[] {
  if (proofs.length === 0) return ["Nothing was run on this tree, so only the diff tells whether it works."];
  if (proofs.some((one) => one.check !== undefined)) return [];
  return ["No required check ran on this tree: only the evidence below says that it works."];
}

/** No key confirms that a human reviewed this or set it aside; the signature on the receipt will cover it. */
function unsignedWords(reviews: readonly Review[], aside: readonly Finding[]): string[] {
  const words = [
    ...reviews.filter((one) => one.counts && isHuman(one.actor)).map((one) => [one.id, one.actor]),
    ...aside.filter((one) => isHuman(one.resolved_by ?? "")).map((one) => [one.id, one.resolved_by ?? ""]),
  ];
  return words.map(
    ([id, who = ""]) => `${id} by ${quoteLine(who, 60)} was not signed; your signature vouches for it.`,
  );
}

function showFindings(findings: readonly Finding[]): string[] {
  const statuses = [...new Set(findings.map((one) => one.status))].map(
    (status) => `${findings.filter((one) => one.status === status).length} ${status}`,
  );
  return [
    `Findings: ${statuses.join(", ") || "none"}`,
    ...findings
      .filter((one) => one.status === "deferred" || one.status === "wontfix")
      .map(
        (one) =>
          `  ${one.id} ${one.severity}, ${one.status} by ${quoteLine(one.resolved_by ?? "nobody", 80)}: ${quoteLine(one.text, 120)} because ${quoteLine(one.resolution, 200)}`,
      ),
  ];
}

export const short = (commit: string) => commit.slice(0, 12);
