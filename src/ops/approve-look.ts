import * as z from "zod/mini";
import { lookForApproval } from "../flows/approve/approve-candidate.ts";
import { digits, showRecords } from "../flows/approve/approve-show.ts";
import { keysInForce } from "../flows/audit/older-keys.ts";
import { type Keys, mustSign } from "../judge/keys.ts";
import { getTask } from "../judge/which-task.ts";
import { taskField } from "../model/input.ts";
import { refOfBranch } from "../model/naming.ts";
import { plural } from "../model/text.ts";
import { procedure } from "./operation.ts";

/** What a human would say yes to: the same looks and refusals as those of `approve`, without asking anybody anything. */
export const approveLook = procedure({
  id: "approve.look",
  summary: "Show what an approval would merge, or what is in its way",
  examples: ["pawl approve look T1"],
  access: "read",
  internal: true,
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField() }),

  rehearse: async () => [],

  async perform(hands, input) {
    const id = await hands.look((reader, at) => getTask(reader, input.task, at));
    const { receipt, repos } = await lookForApproval(hands, id, { fetch: false, push: false });
    const targets = await hands.git.targets();
    const { unusual } = await hands.look((reader) => showRecords(reader, id, repos));
    const moves = [];
    const keys: Keys[] = [];
    for (const { site, name, branch, base_branch, base, head, tree, upstream } of repos) {
      const { commits, total, stat } = await targets.story(site, base, head);
      keys.push(await keysInForce(hands, site, refOfBranch(base_branch), base));
      moves.push({
        name,
        branch,
        base_branch,
        base,
        head,
        tree,
        commits,
        total,
        stat,
        remote: upstream?.remote,
      });
    }
    const passkeys = keys.every(mustSign) ? passkeysOf(keys) : [];
    return {
      data: { look: { task: id, passkeys, receipt, digits: digits(receipt), unusual, repos: moves } },
    };
  },

  text: ({ look }) =>
    `${look.task}: ${plural(look.repos.length, "repository", "repositories")}, receipt ${look.digits}`,
});

/** Passkeys that may sign in every repository of the merge. */
const passkeysOf = ([first, ...others]: readonly Keys[]) =>
  (first?.approvers ?? [])
    .filter((one) => one.kind === "webauthn")
    .filter((one) => others.every((keys) => keys.approvers.some((each) => each.id === one.id)))
    .map(({ key, name }) => ({ key, name }));
