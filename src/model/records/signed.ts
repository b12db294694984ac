import { LEVELS } from "../approvers.ts";
import { type FieldValues, group, list, matching, oneOf, optional, text } from "../fields.ts";

/** What a signature in a record is about; the statement itself is made from the record and from git. */
const SIGNED_KINDS = [
  "approval",
  "unlock",
  "unlocked",
  "approvers",
  "policy",
  "settle",
  "uninstall",
  "request",
] as const;

const signatureFields = {
  about: oneOf(SIGNED_KINDS),
  /** The repository whose policy changes; without it the statement is about all of the record's. */
  repo: optional(text("my-project")),
  name: text("Ada Lovelace"),
  key: text("ada-yubikey"),
  level: oneOf(LEVELS),
  ssh: optional(text("U1NIU0lHAAAAAQ==")),
  passkey: optional(
    group({
      credential: text("GHPMTgLKLkvn"),
      authenticator_data: text("SZYN5YgO"),
      client_data: text("eyJ0eXBl"),
      signature: text("MEUCIQ"),
    }),
  ),
};

export type RecordSignature = FieldValues<typeof signatureFields>;

/** Of a record that humans signed: what it is called in what they signed, whatever its id becomes, and what they signed. */
export const signed = {
  uid: optional(matching(/^[0-9a-f]{32}$/, "32 digits", `"${"0123abcd".repeat(4)}"`)),
  signatures: list(group(signatureFields)),
};

export const UNSIGNED = { uid: undefined, signatures: [] };

/** How a human confirmed something, for its record; a signature says itself what it is worth, wherever it was asked for. */
export const howOf = (typed: string, signatures: readonly RecordSignature[], fromPage = false) =>
  signatures[0]
    ? `signed by ${signatures[0].name} with ${signatures[0].key} (${signatures[0].level})`
    : `typed ${typed} on the terminal${fromPage ? ", asked from the page" : ""}`;
