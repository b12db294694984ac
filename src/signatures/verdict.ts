import type { Level } from "../model/approvers.ts";

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

export type Verdict =
  | { ok: true; name: string; key: string; level: Level }
  | { ok: false; code: RefusalCode; why: string };

export const refused = (code: RefusalCode, why: string): Verdict => ({ ok: false, code, why });
