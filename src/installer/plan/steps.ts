import { digestOf, sha256 } from "../../files/digest.ts";
import type { Change } from "../journal.ts";
import type { LedgerFile } from "./ledger.ts";
import type { Look } from "./look.ts";

/** One thing that an installation does with a file, or deliberately does not do. */
export interface Step {
  /** `leave`: not ours, and told; `keep`: as it should be, or ours and edited. */
  do: "create" | "update" | "keep" | "remove" | "leave" | "refuse";
  path: string;
  why?: string;
  /** How to go on after a refusal. */
  how?: string;
  changes?: Change[];
  /** Folders that have to be made for it. */
  folders?: string[];
  /** What the ledger says about it afterwards. */
  record?: LedgerFile;
  /** What a refusal is about: the text that is there, and the one that would be. */
  texts?: { before: string; after: string };
}

export interface Choices {
  /** Replace what is not ours; a copy is kept. */
  force: boolean;
  /** An edited file for which there is a newer one stays, instead of stopping everything. */
  lenient: boolean;
}

/** Git may check a text out with other line ends than it was written with; that is no edit. */
export const plainText = (text: string) => text.replaceAll("\r\n", "\n");

/** What a ledger would say of a file as it is now. */
export const digestOfLook = ({ bytes, text }: Pick<Look, "bytes" | "text">) =>
  text === undefined ? bytes && digestOf(bytes) : sha256(plainText(text));

export function blocked({ path, blocked: why = "" }: Look): Step {
  return { do: "refuse", path, why: `it ${why}`, how: "Move what is in the way." };
}
