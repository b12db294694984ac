import { columns, PLAIN } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Installation, ProjectProposal, SurfaceRequest } from "../../ports/installation.ts";
import type { Site } from "../../ports/sites.ts";
import { describeWay, type Proposal } from "../trust/propose.ts";
import { type FileReport, fileRows, rowsOf } from "./file-report.ts";
import { type Chosen, proposalRows } from "./proposal-rows.ts";
import { notConfirmed } from "./questions.ts";

/** What a human decided on the terminal. */
export interface Decided {
  request: SurfaceRequest | undefined;
  commit: boolean;
}

export interface Shown {
  news: FileReport;
  remotes: Proposal;
  commands: readonly string[];
  /** The commit was asked for on the command line. */
  commit: boolean;
}

/** Everything that is about to be done, and the last question. Elsewhere it is done unasked, because it only ever adds. */
export async function confirmAll(
  hands: Hands,
  { installation, site }: { installation: Installation; site: Site },
  request: SurfaceRequest | undefined,
  { news, remotes, commands, commit }: Shown,
): Promise<Decided> {
  const trusted = [...remotes.sure, ...remotes.open].map(
    (way) => `${describeWay(way)}: its protected branches may be pulled`,
  );
  const proposed = request && chosen(installation.proposal(), request);
  const rows = [
    ...fileRows(news, PLAIN).map(([word = "", ...more]) => [WILL[word] ?? word, ...more]),
    ...(proposed ? proposalRows(proposed) : []),
    ...(news.written.length === 0 ? [["guard", GUARD_ALONE]] : []),
    ...rowsOf("trust", trusted),
    ...rowsOf("runs", commands),
  ];
  for (const row of columns(rows).split("\n")) if (row !== "") hands.say(row);
  const look = installation.lookAtCommit();
  const offered = request !== undefined && news.written.length > 0 && !look.obstacle && !commit;
  // Trusting a remote that nobody has confirmed takes a typed word, not only Enter.
  const usual = remotes.open.length > 0 ? undefined : offered ? "commit" : "yes";
  const said = usual === undefined ? "" : ` [${usual}]`;
  const question = offered
    ? `Type commit to install and commit it on ${look.branch ?? site.name}, yes to install only, or no${said}: `
    : `Type yes to install${commit ? " and commit" : ""}, or no${said}: `;
  const typed = await hands.ask(question);
  const word = typed?.trim() === "" ? usual : typed?.trim();
  if (word === "yes") return { request, commit };
  if (word === "commit" && (offered || commit)) return { request, commit: true };
  throw notConfirmed();
}

/** Nobody has to say yes to something that is not shown. */
const GUARD_ALONE =
  "hooks in this clone's git directory: protected branches move only by an approval; no file of the project changes";

/** Before it is done, it is said as what will be done. */
const WILL: Readonly<Record<string, string>> = { wrote: "writes", removed: "removes" };

/** What a human did not want of it is not part of the policy. */
export function chosen(
  proposal: ProjectProposal | undefined,
  { policy }: SurfaceRequest,
): Chosen | undefined {
  if (!proposal || !policy) return proposal;
  const { checks, setup } = proposal;
  const wanted = { checks: policy.checks ? checks : [], setup: policy.setup ? setup : undefined };
  return { ...proposal, ...wanted, declined: !policy.checks };
}
