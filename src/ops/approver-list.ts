import * as z from "zod/mini";
import { keyBranches } from "../flows/trust/change-approvers.ts";
import { type Keys, mustSign } from "../judge/keys.ts";
import { APPROVERS_FILE } from "../model/approvers.ts";
import { line, maybe } from "../model/input.ts";
import { quoteLine } from "../model/printable.ts";
import { columns, indent } from "../model/text.ts";
import { procedure } from "./operation.ts";

export const approverList = procedure({
  id: "approver.list",
  summary: "Show whose keys count on each protected branch, and since which commit",
  details:
    "Only .pawl/approvers.yaml at the tip of a protected branch counts, never a copy in a worktree. The root is the\nbranch's first commit that names approvers: whoever made it chose the first key. Check that it is the one you\nknow, and pin it in CI: pawl audit --ci --root COMMIT.",
  examples: ["pawl approver list", "pawl approver list --repo api"],
  access: "read",
  asItIs: true,
  input: z.strictObject({ repo: maybe(line("of this repository (default: the one you are in)", "NAME")) }),
  rehearse: async () => [],

  async perform(hands, input) {
    const sites = await hands.git.sites();
    const site = input.repo === undefined ? sites.here() : sites.named(input.repo);
    const audits = await hands.git.audits();
    await audits.checkWhole(site);
    const branches = [];
    for (const { branch, tip, keys } of await keyBranches(hands, site)) {
      const changes = await audits.changing(site, { tip, without: [] }, [APPROVERS_FILE]);
      const root = changes.at(-1);
      const { came, replaced } = await hands.look((reader) => {
        const { records } = reader.unlocks();
        return { came: root && cameBy(records, root), replaced: replacedBy(records, changes.slice(0, -1)) };
      });
      const approvers = keys.approvers.map((one) => ({
        name: one.name,
        key: one.key,
        kind: one.kind,
        level: one.level,
        // As `approver add` takes it, to enrol it in another repository too.
        ...(one.kind === "webauthn" ? { passkey: `${one.id}.${one.alg}.${one.public}` } : {}),
      }));
      branches.push({
        branch,
        approvals: wanted(keys),
        approvers,
        broken: keys.broken,
        root,
        came,
        replaced,
      });
    }
    return { data: { branches } };
  },

  text: ({ branches }, style) =>
    branches
      .map(({ branch, approvals, approvers, broken, root, came, replaced }) => {
        const rows = approvers.map((one) => [one.key, quoteLine(one.name, 80), one.kind, one.level]);
        const empty = broken ? "The list cannot be read: nobody can approve." : "Nobody is enrolled.";
        const since = root ? [indent(`root ${root}, ${came ?? "which no record explains"}`)] : [];
        return [
          `${style.bold(branch)}: approvals are ${approvals}`,
          indent(rows.length > 0 ? columns(rows) : empty),
          ...since,
          ...(replaced
            ? [
                indent(
                  `all keys were replaced without a signature (--lost) at ${replaced.commit.slice(0, 12)}, ${replaced.came}; audits tell it until that is pinned: pawl audit --ci --root ${replaced.commit}`,
                ),
              ]
            : []),
        ].join("\n");
      })
      .join("\n"),
});

const wanted = (keys: Keys) =>
  mustSign(keys)
    ? `signed (level ${keys.level})`
    : keys.signed
      ? "to be signed, but no key counts"
      : "typed on the terminal";

interface UnlockRecord {
  value: {
    id: string;
    how: string;
    actor: string;
    moves: { new: string }[];
    signatures: { about: string }[];
  };
}

/** The last commit that brought another list although nobody signed that, as `approver add --lost` does. */
function replacedBy(records: readonly UnlockRecord[], changes: readonly string[]) {
  for (const commit of changes) {
    const found = records.find((one) => one.value.moves.some((move) => move.new === commit));
    if (found && !found.value.signatures.some((one) => one.about === "approvers"))
      return { commit, came: cameBy([found], commit) };
  }
  return undefined;
}

function cameBy(records: readonly UnlockRecord[], root: string): string | undefined {
  const found = records.find((one) => one.value.moves.some((move) => move.new === root))?.value;
  return found && `${found.id} by ${found.actor}: ${found.how}`;
}
