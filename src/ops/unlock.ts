import * as z from "zod/mini";
import { acceptCommits } from "../flows/audit/accept.ts";
import { isProtectedBranch, newUnlock } from "../flows/audit/open-unlock.ts";
import { signClosing } from "../flows/audit/sign-closing.ts";
import { closeUnlock, type SignClosing } from "../flows/audit/unlocks.ts";
import { confirmTyped, expectTerminal, refuseAgents } from "../flows/human-only.ts";
import { signUnlock } from "../flows/trust/sign.ts";
import { Failure, stoppedByHuman } from "../model/failure.ts";
import { flag, line, maybe, prose, raw } from "../model/input.ts";
import { branchOfRef, refOfBranch } from "../model/naming.ts";
import type { Unlock } from "../model/records/unlock.ts";
import { plural } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import type { Site } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

const LONGEST = 8 * 60 * 60;
const SECONDS = { s: 1, m: 60, h: 3600 } as const;

interface Wanted {
  branch: string;
  for?: string | undefined;
  reason?: string | undefined;
  end?: boolean | undefined;
  accept?: boolean | undefined;
  sign_with?: string | undefined;
}

export const unlockOperation = procedure({
  id: "unlock",
  summary: "Open a protected branch for a while (human only)",
  details:
    "For what no approval can do, such as undoing a merge by hand. It asks you to type the branch's name, is\nrecorded, and ends by itself after at most eight hours; the record then says what moved the branch. --end\ncloses it at once. Under `approvals: signed`, opening and closing are signed, and only the closing signature\nexplains what was done; sign an unlock that ran out afterwards with --accept.\n--accept opens nothing: it shows which commits on the branch nothing explains, such as those from before this\nclone was guarded, and records that a human accepted them.",
  examples: [
    'pawl unlock main --for 10m --reason "undo a merge that broke the release"',
    "pawl unlock main --end",
    "pawl unlock main --accept",
  ],
  access: "write",
  cli: { positional: ["branch"] },
  input: z.strictObject({
    branch: line("the protected branch", "BRANCH", 250),
    for: maybe(line("how long: 30s, 10m or 2h", "TIME", 10)),
    reason: maybe(prose("why it is needed")),
    end: flag("close it now"),
    accept: flag("accept what the branch has now, although nothing explains it"),
    sign_with: maybe(raw("sign with this key, if the policy requires a signature", "FILE")),
  }),

  async rehearse(hands, input) {
    if (input.end) {
      const open = await openUnlock(hands, input.branch);
      return [{ do: "close", path: `${input.branch} (${open.id})` }];
    }
    await expectUnlockable(hands, input);
    return [{ do: input.accept ? "accept" : "unlock", path: input.branch }];
  },

  async perform(hands, input): Promise<Plan<{ unlock: Unlock }>> {
    if (input.end) return end(hands, input);
    if (input.accept) return accept(hands, input);
    const { site, seconds } = await expectUnlockable(hands, input);
    await confirm(hands, input.branch, input.for ?? "");
    const ref = refOfBranch(input.branch);
    const locks = await hands.git.locks();
    const tip = await (await hands.git.audits()).resolve(site, ref);
    const until = locks.later(seconds);
    const signing = await signUnlock(hands, site, { ref, tip, until }, input.sign_with);
    const opening = { ref, tip, until, reason: input.reason ?? "", repo: site.name, ...signing };
    // The record comes first: an unrecorded unlock would be worse than a recorded one that did not happen.
    const plan = await hands.record((reader, at) => newUnlock(reader, at, opening), {
      phase: "before",
      milestone: `unlock ${input.branch} until ${until}`,
    });
    locks.open(site, ref, until, plan.data.unlock.id);
    return {
      data: plan.data,
      next: { command: `pawl unlock ${input.branch} --end`, reason: "when you are done earlier" },
    };
  },

  text: ({ unlock: value }, style) => {
    const branch = branchOfRef(value.ref);
    return value.status === "open"
      ? `${style.bold(value.id)} ${branch} is open until ${style.times(value.until)}`
      : `${style.bold(value.id)} ${branch} is closed; it moved ${plural(value.moves.length, "time")}`;
  },
});

async function accept(hands: Hands, input: Wanted): Promise<Plan<{ unlock: Unlock }>> {
  const { site } = await expectUnlockable(hands, input);
  const said = { reason: input.reason ?? "", signWith: input.sign_with };
  return { data: { unlock: await acceptCommits(hands, site, input.branch, said) } };
}

/** Anybody may close what is open; only a human at a terminal can sign what was done meanwhile. */
async function end(hands: Hands, { branch, sign_with }: Wanted): Promise<Plan<{ unlock: Unlock }>> {
  const open = await openUnlock(hands, branch);
  const human = hands.agent === undefined && (await hands.ask("")) !== undefined;
  let stopped = false;
  // By then the hooks refuse again, so whoever stops at the question has an unlock that is closed and not signed.
  const unsigned = (uid: string | undefined) => (error: unknown) => {
    if (!(error instanceof Failure) || error.kind !== "interrupted") throw error;
    stopped = true;
    return { uid, signatures: [] };
  };
  const sign: SignClosing = (site, move) =>
    signClosing(hands, site, { ...move, ref: open.ref, branch }, sign_with).catch(unsigned(move.uid));
  const closed = await closeUnlock(hands, open, human ? sign : undefined);
  if (stopped)
    throw stoppedByHuman(
      `${branch} is closed, but nothing is signed. To sign it: pawl unlock ${branch} --accept`,
    );
  if (closed) return { data: { unlock: closed } };
  throw new Failure("not_found", "no_repository", `The repository of this unlock is not on this machine.`);
}

async function openUnlock(hands: Hands, branch: string): Promise<Unlock> {
  const site = (await hands.git.sites()).here();
  const found = await hands.look((reader, at) => findOpen(reader, at.clone, site.name, refOfBranch(branch)));
  if (found) return found;
  throw new Failure("refused", "not_open", `${branch} is not open in this clone.`, {
    details: { field: "branch" },
  });
}

const findOpen = (reader: Reader, clone: string, repo: string, ref: string) =>
  reader
    .unlocks()
    .records.map((one) => one.value)
    .find((one) => one.status === "open" && one.clone === clone && one.repo === repo && one.ref === ref);

async function expectUnlockable(hands: Hands, input: Wanted): Promise<{ site: Site; seconds: number }> {
  await refuseAgents(hands, "unlock a protected branch");
  await expectTerminal(hands);
  const seconds = input.accept ? 0 : secondsOf(input.for);
  const site = (await hands.git.sites()).here();
  if (!(await isProtectedBranch(hands, site, input.branch)))
    throw new Failure(
      "refused",
      "not_protected",
      `${input.branch} is not protected, so it is already open.`,
      {
        hint: "Protected branches are those in .pawl/config.yaml as committed on the protected branch.",
        details: { field: "branch" },
      },
    );
  const open = await hands.look(
    (reader, at) => findOpen(reader, at.clone, site.name, refOfBranch(input.branch)),
    "write",
  );
  if (open)
    throw new Failure(
      "refused",
      "already_open",
      `${input.branch} is open until ${open.until} (${open.id}).`,
      {
        hint: `To close it: pawl unlock ${input.branch} --end`,
        details: { unlock: open.id, until: open.until },
      },
    );
  return { site, seconds };
}

function secondsOf(text: string | undefined): number {
  const match = /^(\d{1,6})([smh])$/.exec(text ?? "");
  const seconds = match ? Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS] : 0;
  if (seconds > 0 && seconds <= LONGEST) return seconds;
  const message =
    text === undefined ? "Say for how long." : `"${text}" is not a time between one second and eight hours.`;
  throw new Failure("usage", "bad_duration", message, {
    hint: "Write it like this: --for 10m",
    details: { field: "for" },
  });
}

function confirm(hands: Hands, branch: string, time: string): Promise<void> {
  hands.say(`Anybody on this machine will be able to change ${branch} for ${time}, agents included.`);
  return confirmTyped(hands, `Type ${branch} to open it: `, branch);
}
