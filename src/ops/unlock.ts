import * as z from "zod/mini";
import { madeNow } from "../core/change.ts";
import { Failure } from "../core/failure.ts";
import type { Hands } from "../core/hands.ts";
import { refuseAgents } from "../core/human-only.ts";
import { nextNumber } from "../core/ids.ts";
import { line, maybe, prose } from "../core/input.ts";
import { procedure } from "../core/operation.ts";
import { unlockFile } from "../core/paths.ts";
import { printRecord } from "../core/record.ts";
import { type Unlock, unlock } from "../core/records/unlock.ts";

const LONGEST = 8 * 60 * 60;
const SECONDS = { s: 1, m: 60, h: 3600 } as const;

export const unlockOperation = procedure({
  id: "unlock",
  summary: "Open a protected branch for a while; for humans only",
  details:
    "For what no approval can do, such as undoing a merge by hand. It is recorded, ends by itself after at most eight hours,\nand asks for the branch's name on the terminal.",
  examples: ['pawl unlock main --for 10m --reason "undo a merge that broke the release"'],
  access: "write",
  cli: { positional: ["branch"] },
  input: z.strictObject({
    branch: line("the protected branch", "BRANCH", 250),
    for: line("how long: 30s, 10m or 2h", "TIME", 10),
    reason: maybe(prose("why it is needed")),
  }),

  async rehearse(hands, input) {
    await expectUnlockable(hands, input);
    return [{ do: "unlock", path: input.branch }];
  },

  async perform(hands, input) {
    const { guard, site, seconds } = await expectUnlockable(hands, input);
    await confirm(hands, input.branch, input.for);
    const { until, time } = guard.later(seconds);
    // First the record: an unlock that nobody knows of would be worse than one that did not happen.
    const plan = await hands.record(
      (reader, at) => {
        const value: Unlock = {
          id: `U${String(nextNumber(reader.unlockNames(), "U")).padStart(4, "0")}`,
          ref: `refs/heads/${input.branch}`,
          until: time,
          how: `typed ${input.branch} on the terminal`,
          ...madeNow(at),
          reason: input.reason ?? "",
        };
        const about = `${input.branch} until ${time}`;
        const path = unlockFile(value.id);
        return {
          data: { unlock: value },
          effects: [
            { do: "create", record: value.id, rev: 1, path, text: printRecord(unlock, value), about },
          ],
        };
      },
      { phase: "before", milestone: `unlock ${input.branch} until ${time}` },
    );
    guard.unlock(site, input.branch, until, plan.data.unlock.actor);
    return plan;
  },

  text: ({ unlock: value }, style) =>
    `${style.bold(value.id)} ${value.ref.slice("refs/heads/".length)} is open until ${value.until}`,
});

async function expectUnlockable(hands: Hands, input: { branch: string; for: string }) {
  await refuseAgents(hands, "unlock a protected branch");
  const seconds = secondsOf(input.for);
  const [guard, site] = [await hands.git.guard(), (await hands.git.sites()).here()];
  if (!guard.isProtected(site, input.branch))
    throw new Failure(
      "refused",
      "not_protected",
      `${input.branch} is not protected, so it needs no unlocking.`,
      {
        hint: "Branches that are protected are named in .pawl/config.yaml of the protected branch itself.",
        details: { field: "branch" },
      },
    );
  return { guard, site, seconds };
}

function secondsOf(text: string): number {
  const match = /^(\d{1,6})([smh])$/.exec(text);
  const seconds = match ? Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS] : 0;
  if (seconds > 0 && seconds <= LONGEST) return seconds;
  throw new Failure("usage", "bad_duration", `"${text}" is no time between one second and eight hours.`, {
    hint: "Write it like this: --for 10m",
    details: { field: "for" },
  });
}

async function confirm(hands: Hands, branch: string, time: string): Promise<void> {
  const typed = await hands.ask(
    `Anybody on this machine can change ${branch} for ${time}, agents included. Type the branch's name to open it: `,
  );
  if (typed === branch) return;
  if (typed === undefined)
    throw new Failure("refused", "no_terminal", "There is no terminal on which a human could confirm it.", {
      hint: "Run it in a terminal of your own.",
    });
  throw new Failure("refused", "not_confirmed", `Not confirmed: "${typed.slice(0, 40)}" is not ${branch}.`, {
    hint: "Nothing was changed.",
    details: { branch },
  });
}
