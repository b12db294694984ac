import * as z from "zod/mini";
import { readTrust } from "../flows/trust/read-trust.ts";
import type { Standing } from "../judge/trust.ts";
import { columns, quoted } from "../model/text.ts";
import { procedure } from "./operation.ts";

const WORDS: Record<Standing, string> = {
  trusted: "trusted",
  unconfirmed: "not confirmed yet",
  changed: "now points elsewhere",
  unlisted: "not in the policy",
  never: "cannot be trusted",
  untrusted: "not trusted",
};

export const remoteList = procedure({
  id: "remote.list",
  summary: "Show the remotes of this repository, and which of them are trusted",
  examples: ["pawl remote list", "pawl remote list --json"],
  access: "read",
  input: z.strictObject({}),

  rehearse: async () => [],

  async perform(hands) {
    const { remotes: known, ways } = await readTrust(hands, (await hands.git.sites()).here());
    const remotes = known.map(({ name, standing, guarded, why }) => ({
      name,
      standing,
      guarded,
      why: why ?? null,
      address: ways.find((one) => one.name === name)?.address ?? "",
    }));
    const open = remotes.find((one) => one.standing === "changed" || one.standing === "unconfirmed");
    return {
      data: { remotes },
      next: open && {
        command: `pawl remote trust ${quoted(open.name)}`,
        reason: "a human confirms where it points",
      },
    };
  },

  text: ({ remotes }, style) =>
    remotes.length === 0
      ? "This repository has no remote."
      : columns(
          remotes.map(({ name, standing, guarded, address, why }) => [
            style.bold(name),
            standing === "trusted" ? style.green(WORDS[standing]) : style.yellow(WORDS[standing]),
            guarded ? "guarded" : "",
            address,
            style.dim(why === null ? "" : `it ${why}`),
          ]),
        ),
});
