import * as z from "zod/mini";
import { Failure } from "../core/failure.ts";
import type { PushedRef, Unexplained } from "../core/git/guard.ts";
import { maybe, raw } from "../core/input.ts";
import { procedure } from "../core/operation.ts";
import type { Reader } from "../core/ports.ts";
import { approval } from "../core/records/run.ts";

export const hookPrePush = procedure({
  id: "hook.pre-push",
  summary: "Refuse to push to a protected branch what nothing explains",
  details: "Called by the pre-push hook with the lines that git gave it.",
  examples: ["pawl hook pre-push --updates - --remote origin"],
  internal: true,
  access: "read",
  cli: { files: ["updates"] },
  input: z.strictObject({
    updates: raw("the lines that git gave the hook", "FILE"),
    remote: maybe(raw("where the push goes", "NAME")),
  }),

  rehearse: async () => [],

  async perform(hands, input) {
    const site = (await hands.git.sites()).here();
    const approved = await hands.look((reader) => approvedCommits(reader, site.name));
    const [first] = (await hands.git.guard()).unexplained(site, readUpdates(input.updates), approved);
    if (first) throw refusal(first);
    return { data: {} };
  },

  text: () => "",
});

function readUpdates(text: string): PushedRef[] {
  return text.split("\n").flatMap((row) => {
    const [, localId, remoteRef, remoteId] = row.trim().split(" ");
    return localId && remoteRef && remoteId ? [{ localId, remoteRef, remoteId }] : [];
  });
}

/** What humans said yes to, in any task. */
function approvedCommits(reader: Reader, repo: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const task of reader.exists ? reader.taskNames().filter((name) => /^T\d{4,}$/.test(name)) : [])
    for (const { value } of reader.parts(approval, task).records)
      for (const one of value.status === "merged" ? value.repos : [])
        if (one.name === repo) found.set(one.ref, (found.get(one.ref) ?? new Set<string>()).add(one.new));
  return found;
}

function refusal({ ref, commits, deletes }: Unexplained): Failure {
  const branch = ref.replace(/^refs\/heads\//, "");
  if (deletes)
    return new Failure("refused", "protected_push", `${branch} is protected and may not be deleted.`, {
      hint: "Push only what was approved.",
      details: { ref },
    });
  const [newest] = commits;
  const others = commits.length > 1 ? ` and ${commits.length - 1} more` : "";
  return new Failure(
    "refused",
    "protected_push",
    `${branch} is protected, and nobody approved ${newest?.id.slice(0, 10)} "${newest?.subject}"${others}.`,
    {
      hint: "A task's work gets there when a human approves it: pawl approve --push",
      details: { ref, commits: commits.map((one) => one.id) },
    },
  );
}
