/** Exit codes are a contract with scripts and agents; every failure names its code, never a number. */
const EXIT = {
  refused: 1,
  unreadable: 2,
  unavailable: 2,
  usage: 3,
  not_found: 4,
  conflict: 5,
  internal: 70,
  /** As shells tell of a Ctrl-C. */
  interrupted: 130,
} as const;

type FailureKind = keyof typeof EXIT;

export interface FailureOptions {
  /** What to type next. Never a way around a rule. */
  hint?: string;
  /** Machine-readable facts: the file, the key, the candidates. */
  details?: Record<string, unknown>;
  cause?: unknown;
}

/** Something expected went wrong: `kind` decides the exit code, `code` is the stable name callers test for. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly kind: FailureKind;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(kind: FailureKind, code: string, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
  }

  get exitCode(): number {
    return EXIT[this.kind];
  }
}

/** Somebody pressed Ctrl-C at a question; `left` says what was done until then, and how to go on where that was something. */
export const stoppedByHuman = (left: string): Failure =>
  new Failure("interrupted", "interrupted", `Stopped; ${left}`);
