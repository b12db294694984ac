import * as z from "zod/mini";
import { confirmTyped, expectTerminal, refuseAgents } from "../flows/human-only.ts";
import {
  changeApprovers,
  type KeyBranch,
  keyBranches,
  type NewList,
} from "../flows/trust/change-approvers.ts";
import { signOne } from "../flows/trust/sign.ts";
import { enrolled, whyNobodyCanSign } from "../judge/keys.ts";
import type { Approver } from "../model/approvers.ts";
import { Failure } from "../model/failure.ts";
import { flag, line, maybe, raw } from "../model/input.ts";
import { branchOfRef, slugOf } from "../model/naming.ts";
import { quoteLine } from "../model/printable.ts";
import type { Hands } from "../ports/hands.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

interface Wanted {
  name: string;
  ssh?: string | undefined;
  passkey?: string | undefined;
  as?: string | undefined;
  lost?: boolean | undefined;
  repo?: string | undefined;
}

export const approverAdd = procedure({
  id: "approver.add",
  summary: "Enrol the key of a human who may approve, unlock and settle (human only)",
  details:
    "Commits the key to .pawl/approvers.yaml on every protected branch of this clone at once; push them afterwards.\nThe first key is trusted because a human typed it here, and it proves that it works by signing its own entry.\nEvery later change is signed with an enrolled key of the highest level. A security key (ssh-keygen -t\ned25519-sk) states in each signature that somebody touched it: level present. Any other key proves only that\nits file was read: level possession. Enrol two, so that you can lose one. --lost is for when all keys are\nlost: it replaces the list without a signature, lowers the policy's level if the new key has a lower one,\nand every audit reports it until a human pins the new root with --root.",
  examples: [
    'pawl approver add --name "Ada Lovelace" --ssh ~/.ssh/id_ed25519_sk.pub',
    'pawl approver add --name "Ada Lovelace" --ssh ~/.ssh/backup.pub --as ada-backup',
  ],
  access: "write",
  input: z.strictObject({
    name: line("whose key it is", "NAME", 80),
    ssh: maybe(raw("the public key", "FILE")),
    passkey: maybe(raw("a passkey as the page hands it over: id.algorithm.public", "PASSKEY")),
    as: maybe(line("a short name for the key (default: from the human's name)", "KEY", 40)),
    sign_with: maybe(raw("the enrolled key that signs the change (default: the first one found)", "FILE")),
    repo: maybe(line("the repository it counts in (default: the one you are in)", "NAME")),
    lost: flag("all enrolled keys are lost: start over with this one, without a signature"),
  }),

  async rehearse(hands, input) {
    const { lists, key } = await expectAddable(hands, input);
    return lists.map((one) => ({ do: `enrol ${key.key} on`, path: one.branch }));
  },

  async perform(hands, input) {
    const { site, lists, key } = await expectAddable(hands, input);
    const branches = lists.map((one) => one.branch).join(", ");
    hands.say(`${key.key}  ${quoteLine(key.name)}  level ${key.level}\n  ${key.public}`);
    if (input.lost) hands.say("Every key enrolled now will stop counting, and every audit will say so.");
    if (input.lost && lists.some(({ keys, approvers }) => whyNobodyCanSign({ ...keys, approvers })))
      hands.say("The policy will say `level: possession`, because this key can do no more.");
    await confirmTyped(hands, `Type ${key.key} to let it approve on ${branches}: `, key.key);
    const lost = input.lost ?? false;
    const unproven = lists.some((one) => enrolled(one.keys)) && !lost ? await proveTouch(hands, key) : [];
    const what = `${lost ? "Replace all approvers with" : "Add the approver"} ${key.key}`;
    const asked = { firstKey: input.ssh, signWith: input.sign_with };
    const unlocks = await changeApprovers(hands, site, { lists, what, lost, ...asked });
    const commits = unlocks.map(({ ref, moves }) => ({ ref, commit: moves[0]?.new ?? "" }));
    // Branches that were at one commit get the key by one commit as well.
    const roots = [...new Set(commits.map(({ commit }) => `--root ${commit}`))];
    const pin = `Pin the new ${roots.length === 1 ? "root" : "roots"} where audits run: pawl audit --ci ${roots.join(" ")}`;
    return {
      data: { approver: key, commits },
      warnings: lost ? [pin] : unproven,
      next: { command: "git push", reason: "other clones get it from the remote" },
    };
  },

  text: ({ approver, commits }, style) =>
    [
      `${style.bold(approver.key)} of ${approver.name} may decide (level ${approver.level})`,
      ...commits.map((one) => `  ${branchOfRef(one.ref)} is at ${one.commit.slice(0, 12)}`),
    ].join("\n"),
});

async function expectAddable(
  hands: Hands,
  input: Wanted,
): Promise<{ site: Site; lists: NewList[]; key: Approver }> {
  await refuseAgents(hands, "change who may approve");
  await expectTerminal(hands);
  const sites = await hands.git.sites();
  const site = input.repo === undefined ? sites.here() : sites.named(input.repo);
  const key: Approver = {
    name: input.name,
    key: input.as ?? slugOf(input.name),
    ...(await readKey(hands, input)),
  };
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(key.key))
    throw new Failure("usage", "bad_name", `"${key.key}" is not a valid short name for a key.`, {
      hint: "Use lower-case letters, digits and hyphens, for example: --as ada-yubikey",
      details: { field: "as" },
    });
  const branches = await keyBranches(hands, site);
  const lists = branches.flatMap((one) => listWith(one, key, input.lost ?? false));
  if (lists.length > 0) return { site, lists, key };
  throw new Failure(
    "refused",
    "already_enrolled",
    `${key.key} is already enrolled on every protected branch.`,
    {
      hint: "pawl approver list",
    },
  );
}

/**
 * Whether a security key was made to ask for a touch shows only in what it signs. The first key signs its own entry; of a
 * later one that is on this machine, the same is asked. What it signs here explains nothing.
 */
async function proveTouch(hands: Hands, key: Approver): Promise<string[]> {
  if (key.kind !== "ssh" || key.level !== "present") return [];
  const statement = { kind: "unlocked" as const, record: (await hands.signatures()).newId(), repos: [] };
  const wish = {
    statement,
    level: key.level,
    keys: [{ approvers: [key] }],
    what: `with ${key.key}, to try it`,
  };
  try {
    await signOne(hands, wish, undefined);
    return [];
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "no_key") throw error;
    return [
      `${key.key} is not on this machine, so nobody has seen it ask for a touch. Made with no-touch-required, it counts for nothing: try it before you rely on it.`,
    ];
  }
}

/** One of the two; a passkey's public half is read like a key of ssh, and refused like one. */
async function readKey(hands: Hands, { ssh, passkey }: Wanted): Promise<Omit<Approver, "name" | "key">> {
  const { readKey: read, readPasskey } = await hands.signatures();
  if (ssh !== undefined && passkey === undefined)
    return { kind: "ssh", ...read(ssh), id: undefined, alg: undefined, rp: undefined };
  if (passkey !== undefined && ssh === undefined) return { kind: "webauthn", ...readPasskey(passkey) };
  throw new Failure("usage", "one_key", "Name one key: --ssh FILE.", {
    hint: "A passkey is enrolled on the page, with `pawl ui`.",
    details: { field: "ssh" },
  });
}

function listWith(branch: KeyBranch, key: Approver, lost: boolean): NewList[] {
  const { approvers, broken } = branch.keys;
  if (lost) return [{ ...branch, approvers: [key] }];
  if (broken)
    throw new Failure("unreadable", "broken_approvers", `The approvers on ${branch.branch} cannot be read.`, {
      hint: "Nobody can sign a change to them. To start over: pawl approver add --lost …",
    });
  if (approvers.some((one) => one.public === key.public)) return [];
  if (approvers.some((one) => one.key === key.key))
    throw new Failure("refused", "name_taken", `Another key is already called ${key.key}.`, {
      hint: "Give this one another name: --as NAME",
      details: { field: "as" },
    });
  return [{ ...branch, approvers: [...approvers, key] }];
}
