import { Failure } from "../model/failure.ts";
import { printable } from "../model/printable.ts";
import { PLAIN } from "../model/text.ts";
import type { Surroundings } from "../runtime/open.ts";
import { openAsk } from "./ask.ts";
import type { Terminal } from "./terminal.ts";
import { type Talk, Undertakings } from "./undertakings.ts";

/** A passkey that a browser has just made. */
interface NewPasskey {
  name: string;
  as: string | undefined;
  passkey: string;
  /** The repository in which it will count. */
  repo: string | undefined;
}

/** Decisions that only a human can make: begun on the page, confirmed on the terminal or with a key. */
export interface Deciding {
  underway: Undertakings;
  /** `byKey`: only a passkey's signature counts as the yes. Otherwise the terminal asks. */
  approve(task: string, how: { push: boolean; byKey: boolean }): void;
  enrol(key: NewPasskey): void;
}

export const APPROVERS = "approvers";

export function openDeciding(
  around: Surroundings,
  terminal: Terminal,
  write: (text: string) => void,
): Deciding {
  const underway = new Undertakings(terminal);
  /** Everything is shown on the terminal as well, exactly as the command shows it. */
  const talking = ({ hear, sign, isWithdrawn }: Talk): Surroundings => ({
    ...around,
    sign,
    ask: async (question) => (question !== "" && isWithdrawn() ? "" : around.ask?.(question)),
    progress(chunk) {
      write(chunk.toString("utf8"));
      hear(chunk.toString("utf8"));
    },
  });
  const told = async <Data>(said: Promise<{ data: Data }>, text: (data: Data) => string): Promise<void> => {
    write("\nAsked for on the page:\n");
    try {
      write(`${printable(text((await said).data))}\n`);
    } catch (error) {
      write(error instanceof Failure ? `pawl: ${printable(error.message)}\n` : `${String(error)}\n`);
      throw error;
    }
  };
  // The code that merges is loaded when somebody decides, so that the page opens sooner.
  return {
    underway,
    approve: (task, { push, byKey }) =>
      underway.begin(task, byKey ? "working" : "asking", async (talk) => {
        const { approve } = await import("../ops/approve.ts");
        // The id was already typed on the page; it counts for nothing unless a key signs the merge.
        const answer = async (question: string) => (question === "" ? "" : task);
        const own = byKey ? { ask: answer, onlySigned: true } : {};
        const ask = openAsk({ ...talking(talk), ...own });
        return told(ask(approve, { task, push }), (data) => approve.text(data, PLAIN));
      }),
    enrol: ({ name, as, passkey, repo }) =>
      underway.begin(APPROVERS, "asking", async (talk) => {
        const { approverAdd } = await import("../ops/approver-add.ts");
        const input = { name, passkey, ...(as && { as }), ...(repo && { repo }) };
        return told(openAsk(talking(talk))(approverAdd, input), (data) => approverAdd.text(data, PLAIN));
      }),
  };
}
