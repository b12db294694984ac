import { createHash } from "node:crypto";
import { Failure } from "../model/failure.ts";
import type { Assertion, Signature } from "../model/signature.ts";
import { statementText } from "../model/statement.ts";
import type { Wish } from "../ports/signatures.ts";
import type { Terminal } from "./terminal.ts";

/** What a browser is asked to have signed. */
export interface SignRequest {
  /** The digest of the statement, in base64url. */
  challenge: string;
  /** The passkeys that would do. */
  credentials: string[];
  rp: string;
}

/** Something that was begun on the page, and is decided on the terminal or by a key. */
export interface Underway {
  state: "asking" | "working" | "signing" | "done" | "refused";
  /** What the operation said on its way, as the terminal shows it. */
  said: string[];
  refusal: Failure | undefined;
  request: SignRequest | undefined;
}

/** What an operation that was begun here is given to talk with. */
export interface Talk {
  hear(text: string): void;
  sign(wish: Wish): Promise<Signature | undefined>;
}

/** The page begins it and shows how it stands; it answers no question, and a click is no signature. */
export class Undertakings {
  readonly #terminal: Terminal;
  readonly #known = new Map<string, Underway>();
  readonly #answers = new Map<string, (assertion: Assertion) => void>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  of(subject: string): Underway | undefined {
    return this.#known.get(subject);
  }

  /** Whatever it waits for comes whenever a person gives it, so nobody waits for it here. */
  begin(subject: string, state: "asking" | "working", perform: (talk: Talk) => Promise<unknown>): void {
    const other = [...this.#known].find(([, one]) => !["done", "refused"].includes(one.state))?.[0];
    if (other !== undefined)
      throw new Failure("refused", "already_asked", `${other} is already being decided.`, {
        hint: "Answer that first; Enter alone on the terminal means no.",
        details: { subject: other },
      });
    const underway: Underway = { state, said: [], refusal: undefined, request: undefined };
    this.#known.set(subject, underway);
    const talk: Talk = {
      hear: (text) => underway.said.push(text),
      sign: (wish) => this.#sign(subject, underway, wish),
    };
    perform(talk).then(
      () => {
        underway.state = "done";
      },
      (error: unknown) => {
        underway.state = "refused";
        underway.refusal =
          error instanceof Failure
            ? error
            : new Failure("unavailable", "bug", "This is a bug in pawl; the terminal of pawl ui says more.");
      },
    );
  }

  /** Asks the browser; where no passkey would do, ssh asks on the terminal. */
  async #sign(subject: string, underway: Underway, wish: Wish): Promise<Signature | undefined> {
    const passkeys = wish.approvers.filter((one) => one.kind === "webauthn");
    const rp = passkeys[0]?.rp;
    if (rp === undefined) return undefined;
    underway.request = {
      challenge: createHash("sha256").update(statementText(wish.statement)).digest("base64url"),
      credentials: passkeys.flatMap((one) => one.id ?? []),
      rp,
    };
    underway.state = "signing";
    const passkey = await new Promise<Assertion>((answer) => {
      this.#answers.set(subject, answer);
    });
    this.#answers.delete(subject);
    underway.request = undefined;
    underway.state = "working";
    return { passkey };
  }

  /** What the browser's key answered; whoever asked checks it. */
  answer(subject: string, assertion: Assertion): void {
    const waiting = this.#answers.get(subject);
    if (!waiting)
      throw new Failure("refused", "nothing_to_sign", `Nothing about ${subject} waits for a signature.`, {
        hint: "Look again: it may have been decided meanwhile.",
      });
    waiting(assertion);
  }

  /** Takes the question back, or answers the wish for a signature with none. */
  withdraw(subject: string): void {
    const state = this.#known.get(subject)?.state;
    if (state === "asking") this.#terminal.withdraw();
    if (state === "signing")
      this.answer(subject, { credential: "", authenticator_data: "", client_data: "", signature: "" });
  }
}
