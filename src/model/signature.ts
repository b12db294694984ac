import type { Level } from "./approvers.ts";

/** What a browser's `navigator.credentials.get` answers, each part in base64url. */
export interface Assertion {
  credential: string;
  authenticator_data: string;
  client_data: string;
  signature: string;
}

/** A signature as a record keeps it: of ssh, or of a passkey. */
export type Signature = { ssh: string } | { passkey: Assertion };

/** Why a signature counts for nothing. */
export type RefusalCode =
  | "malformed"
  | "unknown_key"
  | "wrong_namespace"
  | "wrong_statement"
  | "wrong_origin"
  | "bad_signature"
  | "not_present"
  | "not_verified"
  | "level_too_low";

/** Whose signature it is, and how much it says. */
export interface SignedBy {
  name: string;
  key: string;
  level: Level;
}

export type Verdict = ({ ok: true } & SignedBy) | { ok: false; code: RefusalCode; why: string };

export const refused = (code: RefusalCode, why: string): Verdict => ({ ok: false, code, why });
