import * as z from "zod/mini";
import { activateGuard } from "../flows/guard/activate-guard.ts";
import { confirmTyped, expectTerminal, refuseAgents } from "../flows/human-only.ts";
import { readTrust } from "../flows/trust/read-trust.ts";
import { recordTrust } from "../flows/trust/record-trust.ts";
import { Failure } from "../model/failure.ts";
import { line } from "../model/input.ts";
import type { Hands } from "../ports/hands.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

export const remoteForget = procedure({
  id: "remote.forget",
  summary: "Stop trusting a remote in this clone (human only)",
  details:
    "From then on its branches are not let in, and it no longer explains commits that only it has. The remote\nitself stays in git's settings.",
  examples: ["pawl remote forget upstream"],
  access: "write",
  cli: { positional: ["name"] },
  input: z.strictObject({ name: line("the remote, as git calls it", "NAME", 200) }),

  async rehearse(hands, input) {
    await expectTrusted(hands, input.name);
    return [{ do: "stop trusting", path: input.name }];
  },

  async perform(hands, { name }) {
    const site = await expectTrusted(hands, name);
    await confirmTyped(hands, `Type ${name} to stop trusting it: `, name);
    await recordTrust(hands, site, { forgotten: name });
    const active = (await hands.git.audits()).guardActive(site);
    const notes = active ? (await activateGuard(hands, site)).notes : [];
    return { data: { remote: { name, standing: "untrusted" } }, warnings: notes };
  },

  text: ({ remote }, style) => `${style.bold(remote.name)} is no longer trusted`,
});

async function expectTrusted(hands: Hands, name: string): Promise<Site> {
  await refuseAgents(hands, "stop trusting a remote");
  await expectTerminal(hands);
  const site = (await hands.git.sites()).here();
  const { record, clone } = await readTrust(hands, site);
  if (record?.trusted.some((one) => one.remote === name && one.clone === clone)) return site;
  throw new Failure("not_found", "not_trusted", `${name} is not trusted in this clone.`, {
    hint: "Which remotes are: pawl remote list",
    details: { field: "name" },
  });
}
