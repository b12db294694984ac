import { Failure } from "../model/failure.ts";
import type { Terminal } from "./terminal.ts";

/** An approval that was begun on the page and is decided on the terminal. */
export interface Underway {
  state: "asking" | "merged" | "refused";
  /** What approve said on its way, as the terminal shows it. */
  said: string[];
  refusal: Failure | undefined;
}

type Perform = (task: string, push: boolean, hear: (text: string) => void) => Promise<unknown>;

/** The page begins an approval, and shows how it stands; it never answers the question. */
export class Approvals {
  readonly #terminal: Terminal;
  readonly #perform: Perform;
  readonly #known = new Map<string, Underway>();

  constructor(terminal: Terminal, perform: Perform) {
    this.#terminal = terminal;
    this.#perform = perform;
  }

  of(task: string): Underway | undefined {
    return this.#known.get(task);
  }

  /** Asks on the terminal. The answer comes whenever a person types it, so nobody waits for it here. */
  begin(task: string, push: boolean): void {
    const other = [...this.#known].find(([, one]) => one.state === "asking")?.[0];
    if (other !== undefined)
      throw new Failure("refused", "terminal_busy", `The terminal asks about ${other} already.`, {
        hint: "Answer there first; Enter alone is a no.",
        details: { task: other },
      });
    const underway: Underway = { state: "asking", said: [], refusal: undefined };
    this.#known.set(task, underway);
    this.#perform(task, push, (text) => underway.said.push(text)).then(
      () => {
        underway.state = "merged";
      },
      (error: unknown) => {
        underway.state = "refused";
        underway.refusal =
          error instanceof Failure
            ? error
            : new Failure("unavailable", "bug", "This is a bug in pawl; the terminal of pawl ui says more.");
        if (!(error instanceof Failure)) throw error;
      },
    );
  }

  withdraw(task: string): void {
    if (this.#known.get(task)?.state === "asking") this.#terminal.withdraw();
  }
}
