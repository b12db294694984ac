import * as z from "zod/mini";
import { confirmTyped, expectTerminal, refuseAgents } from "../flows/human-only.ts";
import {
  changeApprovers,
  type KeyBranch,
  keyBranches,
  listedElsewhere,
  type NewList,
} from "../flows/trust/change-approvers.ts";
import { atLeast } from "../model/approvers.ts";
import { Failure } from "../model/failure.ts";
import { line, maybe, raw } from "../model/input.ts";
import { branchOfRef } from "../model/naming.ts";
import type { Hands } from "../ports/hands.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

export const approverRemove = procedure({
  id: "approver.remove",
  summary: "Remove a key from those that may approve (human only)",
  details:
    "Commits the removal on every protected branch of this clone that has the key, at once; push them afterwards.\nIt is signed with an enrolled key of the highest level, which may be the one being removed. What the key\nsigned before stays approved. You cannot remove the last key, nor the last one that the policy accepts.",
  examples: ["pawl approver remove ada-backup"],
  access: "write",
  cli: { positional: ["approver"] },
  input: z.strictObject({
    approver: line("the key, as `pawl approver list` calls it", "KEY", 40),
    sign_with: maybe(raw("the enrolled key that signs the change (default: the first one found)", "FILE")),
  }),

  async rehearse(hands, input) {
    const { lists } = await expectRemovable(hands, input.approver);
    return lists.map((one) => ({ do: `take ${input.approver} out of`, path: one.branch }));
  },

  async perform(hands, input) {
    const { site, lists } = await expectRemovable(hands, input.approver);
    const branches = lists.map((one) => one.branch).join(", ");
    for (const branch of await listedElsewhere(hands, site, input.approver))
      hands.say(
        `origin has ${branch}, which lists ${input.approver}, too, and is not here. What the key signed there stays approved only if you remove it from all branches at once. First: git branch ${branch} origin/${branch}`,
      );
    await confirmTyped(hands, `Type ${input.approver} to remove it on ${branches}: `, input.approver);
    const what = `Remove the approver ${input.approver}`;
    const asked = { firstKey: undefined, signWith: input.sign_with, lost: false };
    const unlocks = await changeApprovers(hands, site, { lists, what, ...asked });
    return {
      data: {
        removed: input.approver,
        commits: unlocks.map(({ ref, moves }) => ({ ref, commit: moves[0]?.new ?? "" })),
      },
      next: { command: "git push", reason: "other clones get it from the remote" },
    };
  },

  text: ({ removed, commits }, style) =>
    [
      `${style.bold(removed)} no longer counts`,
      ...commits.map((one) => `  ${branchOfRef(one.ref)} is at ${one.commit.slice(0, 12)}`),
    ].join("\n"),
});

async function expectRemovable(hands: Hands, key: string): Promise<{ site: Site; lists: NewList[] }> {
  await refuseAgents(hands, "change who may approve");
  await expectTerminal(hands);
  const site = (await hands.git.sites()).here();
  const branches = await keyBranches(hands, site);
  const lists = branches.flatMap((one) => listWithout(one, key));
  if (lists.length > 0) return { site, lists };
  throw new Failure("not_found", "no_approver", `No protected branch here has the key ${key}.`, {
    hint: "pawl approver list",
    details: { field: "approver" },
  });
}

function listWithout(branch: KeyBranch, key: string): NewList[] {
  const { approvers, signed, level } = branch.keys;
  const left = approvers.filter((one) => one.key !== key);
  if (left.length === approvers.length) return [];
  if (left.length > 0 && (!signed || left.some((one) => atLeast(one.level, level))))
    return [{ ...branch, approvers: left }];
  throw new Failure(
    "refused",
    "last_key",
    `${key} is the last key on ${branch.branch} that can approve anything.`,
    {
      hint: "Enrol another one first: pawl approver add",
      details: { branch: branch.branch },
    },
  );
}
