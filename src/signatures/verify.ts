import { createHash } from "node:crypto";
import { type Approver, atLeast, type Level } from "../model/approvers.ts";
import { refused, type Signature, type Verdict } from "../model/signature.ts";
import { type Statement, statementText } from "../model/statement.ts";
import { verifyPasskey } from "./passkey.ts";
import { computeAhead, verifySsh } from "./ssh-signature.ts";
import { MalformedSignature } from "./ssh-wire.ts";

/** What is really signed: 32 bytes, the same for both kinds of key. */
export const digestOf = (statement: Statement) =>
  createHash("sha256").update(statementText(statement)).digest();

/** Whether one of these approvers signed exactly this, at the wanted level; offline and without trusting ssh-keygen. */
export function verifySignature(
  statement: Statement,
  signature: Signature,
  approvers: readonly Approver[],
  wanted: Level,
): Verdict {
  const verdict = checked(() =>
    "ssh" in signature
      ? verifySsh(signature.ssh, digestOf(statement), approvers)
      : verifyPasskey(signature.passkey, digestOf(statement), approvers),
  );
  if (!verdict.ok || atLeast(verdict.level, wanted)) return verdict;
  return refused("level_too_low", "the policy requires a key that must be touched");
}

/** Makes the answers ready that will be asked for one by one. */
export const checkAhead = (all: readonly Parameters<typeof verifySignature>[]): Promise<void> =>
  computeAhead(() => {
    for (const one of all) if ("ssh" in one[1]) verifySignature(...one);
  });

/** Whatever cannot be read was not signed; our own mistakes are not hidden by that. */
function checked(check: () => Verdict): Verdict {
  try {
    return check();
  } catch (error) {
    const isTheirs =
      error instanceof MalformedSignature || (error as NodeJS.ErrnoException).code?.startsWith("ERR_OSSL");
    if (!isTheirs) throw error;
    return refused("malformed", (error as Error).message);
  }
}
