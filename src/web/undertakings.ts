import { createHash } from "node:crypto";
import { Failure } from "../model/failure.ts";
import type { Assertion, Signature } from "../model/signature.ts";
import { statementText } from "../model/statement.ts";
import type { Wish } from "../ports/signatures.ts";
import type { Terminal } from "./terminal.ts";

const SOON_MS = 2_000;
const soon = () => new Promise<void>((done) => setTimeout(done, SOON_MS).unref());
const NO_ASSERTION: Assertion = { credential: "", authenticator_data: "", client_data: "", signature: "" };

/** As much as the page shows of the output of checks, which it asks for again and again. */
const MOST_SAID = 100_000;
const latest = (said: string) => (said.length <= MOST_SAID ? said : `…${said.slice(-MOST_SAID)}`);

/** What a browser is asked to have signed. */
interface SignRequest {
  /** The digest of the statement, in base64url. */
  challenge: string;
  /** The passkeys that would do. */
  credentials: string[];
  rp: string;
}

/** Something that was begun on the page, and is decided on the terminal or by a key. */
export interface Underway {
  state: "asking" | "working" | "signing" | "done" | "refused";
  /** What the operation said on its way, as the terminal shows it: the end of it, where it is long. */
  said: string;
  refusal: Failure | undefined;
  request: SignRequest | undefined;
  /** Somebody pressed Cancel on the page. */
  withdrawn: boolean;
}

/** What an operation that was begun here is given to talk with. */
export interface Talk {
  hear(text: string): void;
  sign(wish: Wish): Promise<Signature | undefined>;
  /** Any question asked after that is answered with no. */
  isWithdrawn(): boolean;
}

/** Decisions in progress. The page starts them and shows how they stand; it cannot answer their questions, and a click is not a signature. */
export class Undertakings {
  readonly #terminal: Terminal;
  readonly #known = new Map<string, Underway>();
  /** Resolves once the work has ended, however it ended. */
  readonly #ended = new Map<string, Promise<void>>();
  readonly #answers = new Map<string, (assertion: Assertion) => void>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /**
   * How it stands at this moment. A page asks before it reads the records: what ends after that still shows as underway,
   * and the page looks again; the other way round it would show the records from before as the result.
   */
  of(subject: string): Readonly<Underway> | undefined {
    const known = this.#known.get(subject);
    return known && { ...known, said: latest(known.said) };
  }

  /** Returns at once: a person may take any time to answer. */
  begin(subject: string, state: "asking" | "working", perform: (talk: Talk) => Promise<unknown>): void {
    const other = [...this.#known].find(([, one]) => !["done", "refused"].includes(one.state))?.[0];
    if (other !== undefined)
      throw new Failure("refused", "already_asked", `${other} is already being decided.`, {
        hint: "Answer that first; Enter alone on the terminal means no.",
        details: { subject: other },
      });
    const underway: Underway = { state, said: "", refusal: undefined, request: undefined, withdrawn: false };
    this.#known.set(subject, underway);
    const talk: Talk = {
      hear: (text) => {
        underway.said += text;
        // Cutting copies all of it, so it is not done for every line.
        if (underway.said.length > 2 * MOST_SAID) underway.said = latest(underway.said);
      },
      sign: (wish) => this.#sign(subject, underway, wish),
      isWithdrawn: () => underway.withdrawn,
    };
    const ended = perform(talk).then(
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
    this.#ended.set(subject, ended);
  }

  /** Asks the browser for a signature; undefined, where no passkey would count, leaves it to ssh on the terminal. */
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
      if (underway.withdrawn) answer(NO_ASSERTION);
    });
    this.#answers.delete(subject);
    underway.request = undefined;
    underway.state = "working";
    return { passkey };
  }

  /** Passes on what the browser's key answered; the operation that asked verifies it. */
  answer(subject: string, assertion: Assertion): void {
    const waiting = this.#answers.get(subject);
    if (!waiting)
      throw new Failure("refused", "nothing_to_sign", `${subject} is not waiting for a signature.`, {
        hint: "Look again: it may have been decided meanwhile.",
      });
    waiting(assertion);
  }

  /**
   * Withdraws the question, or answers the request for a signature with an empty one, even if it has not come yet. Waits
   * until the work has ended, so that the next page shows it as over.
   */
  async withdraw(subject: string): Promise<void> {
    const underway = this.#known.get(subject);
    if (!underway || ["done", "refused"].includes(underway.state)) return;
    underway.withdrawn = true;
    if (underway.state === "asking") this.#terminal.withdraw();
    if (underway.state === "signing") this.answer(subject, NO_ASSERTION);
    await Promise.race([this.#ended.get(subject), soon()]);
  }
}
