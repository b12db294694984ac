import { CLASSES, type Class, type Explained, isWrong } from "../../judge/audit/classify.ts";
import type { AuditedBranch, Finding } from "../../judge/audit/judge.ts";
import { branchOfRef } from "../../model/naming.ts";
import { columns, indent, plural, type Style } from "../../model/text.ts";
import type { DecidedAtTheDoor } from "./decided.ts";

/** The outcome of an audit. */
interface Found {
  clean: boolean;
  branches: AuditedBranch[];
  findings: Finding[];
  decided: DecidedAtTheDoor[];
}

export function showAudit({ clean, branches, decided, findings }: Found, style: Style): string {
  const blocks = branches.map((one) => branchText(one, style));
  for (const { record, what, by } of decided)
    blocks.push(`${record}: ${what}${by ? `, signed by ${by.name} with ${by.key} (${by.level})` : ""}`);
  if (findings.length > 0)
    blocks.push(
      [
        style.red(`${plural(findings.length, "trace")} of tampering`),
        ...findings.map(
          (one) => `  ${style.yellow(one.code)} ${one.where} (${one.repo}): ${style.times(one.message)}`,
        ),
      ].join("\n"),
    );
  if (branches.length === 0) blocks.push("There is no protected branch here.");
  // Without a protected branch, "Everything is explained" would be false comfort.
  if (!clean) blocks.push(style.red("Not everything is explained."));
  else if (branches.length > 0) blocks.push(style.green("Everything is explained."));
  return blocks.join("\n");
}

/** Class names for people; scripts read the class itself in `--json`. */
const WORDS: Partial<Record<Class, string>> = { pull_request: "pull request", remote: "from the remote" };
const inWords = (one: Class) => WORDS[one] ?? one;

function branchText({ repo, ref, counts, commits, root }: AuditedBranch, style: Style): string {
  const told = CLASSES.filter((one) => counts[one] > 0).map((one) => {
    const signed = commits.filter((each) => each.class === one && each.signed !== undefined).length;
    return `${counts[one]} ${inWords(one)}${signed > 0 ? ` (${signed} signed)` : ""}`;
  });
  const wrong = commits.filter(isWrong);
  const since = root
    ? `, keys since ${root.commit.slice(0, 12)} (${inWords(root.class)}${root.by ? ` by ${root.by}` : ""})`
    : "";
  const head = `${style.bold(branchOfRef(ref))} of ${repo}: ${told.join(", ") || "no commits"}${since}`;
  if (wrong.length === 0) return head;
  return `${head}\n${indent(columns(wrong.map((one) => row(one, style))))}`;
}

const row = ({ commit, reason, message }: Explained, style: Style) => [
  style.yellow(commit.id.slice(0, 12)),
  reason ?? "",
  commit.subject.slice(0, 60),
  style.dim(style.times(message ?? "")),
];
