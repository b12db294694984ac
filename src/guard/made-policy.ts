import { textIfPresent } from "../files/read.ts";
import { type GuardPolicy, readPolicy } from "../model/guard-policy.ts";

export const policyFile = (commonDir: string) => `${commonDir}/pawl/policy`;

/** What the hooks that are in place were made from. */
export function readMade(commonDir: string): GuardPolicy | undefined {
  const text = textIfPresent(policyFile(commonDir));
  return text === undefined ? undefined : readPolicy(text);
}
