import * as z from "zod/mini";
import { activateGuard } from "../flows/guard/activate-guard.ts";
import { confirmTyped, expectTerminal, refuseAgents } from "../flows/human-only.ts";
import { readTrust } from "../flows/trust/read-trust.ts";
import { recordTrust } from "../flows/trust/record-trust.ts";
import type { Way } from "../judge/trust.ts";
import type { TrustedRemote } from "../model/config.ts";
import { Failure } from "../model/failure.ts";
import { flag, line } from "../model/input.ts";
import { columns, quoted } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

export const remoteTrust = procedure({
  id: "remote.trust",
  summary: "Trust a remote, so that its protected branches may be pulled (human only)",
  details:
    "Only a trusted remote explains how a commit got onto a protected branch: the guard lets you pull from it, and\naudits ask it. You confirm where the remote points in this clone, after everything that git rewrites; if that\nchanges, the remote explains nothing until you confirm it again. This repository itself, a bundle and a helper\nprogram (ext::) cannot be trusted. With --guarded, whatever reaches its protected branches needs an approval\ntoo: a commit pushed there without one is reported as unapproved.",
  examples: ["pawl remote trust origin", "pawl remote trust upstream --guarded"],
  access: "write",
  cli: { positional: ["name"] },
  input: z.strictObject({
    name: line("the remote, as git calls it", "NAME", 200),
    guarded: flag("its protected branches must hold only approved commits"),
  }),

  async rehearse(hands, input) {
    const { way } = await expectTrustable(hands, input.name);
    return [{ do: "trust", path: `${way.name} (${way.address})` }];
  },

  async perform(hands, input) {
    const { site, way, policy } = await expectTrustable(hands, input.name);
    const guarded = input.guarded ?? false;
    for (const row of columns(describe(way)).split("\n")) hands.say(row);
    await confirmTyped(hands, `Type ${way.name} to trust it: `, way.name);
    await recordTrust(hands, site, { taken: [{ way, guarded }] });
    const active = (await hands.git.audits()).guardActive(site);
    const notes = active ? (await activateGuard(hands, site)).notes : [];
    const { name, address } = way;
    if (policy && !policy.some((one) => one.name === name)) notes.push(unlisted(way, guarded));
    return { data: { remote: { name, address, standing: "trusted", guarded } }, warnings: notes };
  },

  text: ({ remote }, style) =>
    `${style.bold(remote.name)} (${remote.address}) is trusted${remote.guarded ? ", and guarded" : ""}`,
});

/** Everything that a human should look at before saying yes. */
function describe({ name, address, push, settings }: Way): string[][] {
  const elsewhere = push.filter((one) => one !== address);
  return [
    ["remote", name],
    ["address", address],
    ...elsewhere.map((one) => ["pushed to", one]),
    ...settings.map((one) => ["setting", one]),
  ];
}

/** The policy has the last word: while it names other remotes, this one explains nothing. */
const unlisted = ({ name, address }: Way, guarded: boolean) =>
  `The policy on the protected branch names other remotes, so this one explains nothing yet. Add it to \`remotes:\` in .pawl/config.yaml, and have the change approved: { name: ${quoted(name)}, address: ${JSON.stringify(address)}${guarded ? ", guarded: true" : ""} }`;

interface Trustable {
  site: Site;
  way: Way;
  policy: readonly TrustedRemote[] | undefined;
}

async function expectTrustable(hands: Hands, name: string): Promise<Trustable> {
  await refuseAgents(hands, "trust a remote");
  await expectTerminal(hands);
  const site = (await hands.git.sites()).here();
  const { ways, remotes, policy } = await readTrust(hands, site);
  const way = ways.find((one) => one.name === name);
  if (!way)
    throw new Failure("not_found", "no_remote", `${site.name} has no remote ${name}.`, {
      hint:
        ways.length > 0
          ? `It has ${ways.map((one) => one.name).join(", ")}.`
          : "Add one with `git remote add`.",
      details: { field: "name", remotes: ways.map((one) => one.name) },
    });
  const never = remotes.find((one) => one.name === name && one.standing === "never");
  if (never)
    throw new Failure(
      "refused",
      "untrustworthy_remote",
      `${name} ${never.why}, so it could confirm anything.`,
      {
        hint: "Trust a remote that others push to.",
        details: { remote: name, address: way.address },
      },
    );
  return { site, way, policy };
}
