import * as z from "zod/mini";
import { recordUnguarded } from "../core/audit/baseline.ts";
import type { Hands } from "../core/hands.ts";
import { refuseAgents } from "../core/human-only.ts";
import { procedure } from "../core/operation.ts";

export const uninstall = procedure({
  id: "uninstall",
  summary: "Take the guard's hooks out of this repository",
  details:
    "Git's configuration is byte for byte what it was, and every hook that was there before stays. The records of your\ntasks are kept. Refused to agents.",
  examples: ["pawl uninstall", "pawl uninstall --dry-run"],
  access: "write",
  input: z.strictObject({}),

  async rehearse(hands) {
    const { guard, site } = await expectHuman(hands);
    return guard.rehearseDeactivation(site);
  },

  async perform(hands) {
    const { guard, site } = await expectHuman(hands);
    const { removed, notes } = guard.deactivate(site);
    await recordUnguarded(hands, site);
    return { data: { guard: { removed } }, warnings: notes };
  },

  text: ({ guard }) =>
    guard.removed.length === 0
      ? "There was nothing to take out."
      : "The guard is gone. Protected branches are not protected any more.",
});

async function expectHuman(hands: Hands) {
  await refuseAgents(hands, "take the guard out");
  return { guard: await hands.git.guard(), site: (await hands.git.sites()).here() };
}
