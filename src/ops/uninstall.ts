import * as z from "zod/mini";
import { recordUnguarded } from "../core/audit/baseline.ts";
import { Failure } from "../core/failure.ts";
import type { Hands } from "../core/hands.ts";
import { refuseAgents } from "../core/human-only.ts";
import { flag } from "../core/input.ts";
import { fileRows, rowsOf, tellFiles } from "../core/install/told.ts";
import { procedure } from "../core/operation.ts";
import { columns, paragraphs } from "../core/text.ts";

export const uninstall = procedure({
  id: "uninstall",
  summary: "Take everything that pawl installed out of this repository",
  details:
    "Files, git's configuration and hooks are byte for byte what they were; what you edited since stays and is named. The\nrecords of your tasks are kept. Refused to agents.",
  examples: ["pawl uninstall", "pawl uninstall --dry-run"],
  access: "write",
  input: z.strictObject({ yes: flag("do not ask on a terminal") }),

  async rehearse(hands) {
    const { guard, site, installation } = await expectHuman(hands);
    const files = installation.planRemoval().filter((one) => one.do === "remove");
    return [
      ...files.map(({ path }) => ({ do: "remove what is pawl's of", path })),
      ...guard.rehearseDeactivation(site),
    ];
  },

  async perform(hands, input) {
    const { guard, site, installation } = await expectHuman(hands);
    const notes = installation
      .recover()
      .map((path) => `${path} was changed while an earlier run was killed.`);
    if (!input.yes)
      await confirm(hands, installation.planRemoval().filter((one) => one.do === "remove").length);
    const { removed, notes: told } = guard.deactivate(site);
    const files = tellFiles(installation.remove());
    await recordUnguarded(hands, site);
    const copies = installation.removeRuntime().map((path) => `A copy of a file of yours stays: ${path}`);
    return {
      data: { uninstall: { removed: files.removed, left: files.left, guard: { removed } } },
      warnings: [...notes, ...told, ...copies],
    };
  },

  text: ({ uninstall: told }, style) => {
    const nothing = told.removed.length + told.guard.removed.length === 0;
    const rows = [
      ...fileRows({ ...told, written: [], kept: [] }, style),
      ...(told.guard.removed.length > 0
        ? rowsOf("guard", ["gone; protected branches are not protected any more"])
        : []),
    ];
    return paragraphs(
      nothing ? "There was nothing to take out." : "pawl is not installed here any more.",
      columns(rows),
    );
  },
});

async function confirm(hands: Hands, files: number): Promise<void> {
  if ((await hands.ask("")) === undefined) return;
  const typed = await hands.ask(`${files} files and the hooks go. Type yes to take pawl out: `);
  if (typed === "yes") return;
  throw new Failure("refused", "not_confirmed", "Not confirmed; nothing was changed.", {
    hint: "To do it without a question: pawl uninstall --yes",
  });
}

async function expectHuman(hands: Hands) {
  await refuseAgents(hands, "take the guard out");
  const installation = await hands.git.installation();
  return { guard: await hands.git.guard(), site: (await hands.git.sites()).here(), installation };
}
