import type { Approver, Level } from "../model/approvers.ts";
import type { Signature, Verdict } from "../model/signature.ts";
import type { Statement } from "../model/statement.ts";

/** What a human signs with. */
export interface Wish {
  statement: Statement;
  /** Whose keys would do, the preferred ones first. */
  approvers: readonly Approver[];
  /** A private key of ssh, or the public half of one that an ssh agent holds; undefined: look for one. */
  keyFile: string | undefined;
}

export type CheckSignature = (
  statement: Statement,
  signature: Signature,
  approvers: readonly Approver[],
  wanted: Level,
) => Verdict;

/** Signing and checking what humans signed. Only people and their keys sign: nothing here keeps a secret. */
export interface Signatures {
  /** Has ssh-keygen sign it; it asks for a passphrase or a touch on the terminal by itself. */
  sign(wish: Wish): Promise<Signature>;
  check: CheckSignature;
  /** Makes the answers of many checks ready at once, on all processors. */
  checkAhead(all: readonly Parameters<CheckSignature>[]): Promise<void>;
  /** What was answered came from a page: without a signature it is nobody's word. */
  demanded: boolean;
  /** Whoever answered was asked from a page. */
  fromPage: boolean;
  /** The public key in a file of ssh, without its comment; refused when it is not one that may be enrolled. */
  readKey(file: string): { public: string; level: Level };
  /** A passkey that a browser made for our page, as `id.algorithm.public`; refused when it could not be checked later. */
  readPasskey(text: string): Pick<Approver, "public" | "id" | "alg" | "rp"> & { level: Level };
  /** 32 digits of chance. */
  newId(): string;
}
