import * as z from "zod/mini";
import { activateGuard } from "../core/activate-guard.ts";
import { Failure } from "../core/failure.ts";
import type { Hands } from "../core/hands.ts";
import { line, maybe } from "../core/input.ts";
import { procedure } from "../core/operation.ts";

const PROFILES = ["hooks"];

export const install = procedure({
  id: "install",
  summary: "Guard this repository's protected branches with git hooks",
  details:
    "Hooks go into the git directory, never into the project, and hooks that are there already go on running. Running it\nagain changes only what is not in place. `pawl uninstall` takes everything back.",
  examples: ["pawl install --profile hooks", "pawl install --profile hooks --dry-run"],
  access: "write",
  input: z.strictObject({ profile: maybe(line("what to install: hooks", "PROFILE", 20)) }),

  async rehearse(hands, input) {
    const { guard, site } = await expectProfile(hands, input.profile);
    return guard.rehearse(site);
  },

  async perform(hands, input) {
    const { site } = await expectProfile(hands, input.profile);
    const { patterns, previous, changed, notes } = await activateGuard(hands, site);
    return { data: { guard: { protected: patterns, chained: previous, changed } }, warnings: notes };
  },

  text: ({ guard }, style) =>
    [
      guard.changed.length === 0 ? "Everything was in place." : style.green("The guard is in place."),
      `Protected: ${guard.protected.join(", ")}`,
      ...(guard.chained.length > 0 ? [`Hooks that go on running: ${guard.chained.join(", ")}`] : []),
    ].join("\n"),
});

/** Without a word everything is meant, and this version does not have everything. */
async function expectProfile(hands: Hands, profile = "all") {
  if (!PROFILES.includes(profile))
    throw new Failure("usage", "unknown_profile", `This version of pawl cannot install "${profile}" yet.`, {
      hint: `It can install: ${PROFILES.join(", ")}.`,
      details: { field: "profile", known: PROFILES },
    });
  return { guard: await hands.git.guard(), site: (await hands.git.sites()).here() };
}
