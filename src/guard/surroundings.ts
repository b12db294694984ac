import type { Environment } from "../model/environment.ts";
import type { Diagnosis } from "../ports/doctor.ts";

/** Node 20 reads the whole file at every start, whether or not it ever talks to a server. */
const READS_LAZILY = 22;

export function surroundings(env: Environment, nodeVersion: string): Diagnosis[] {
  const certificates = env.NODE_EXTRA_CA_CERTS;
  if (!certificates || Number.parseInt(nodeVersion, 10) >= READS_LAZILY) return [];
  return [
    {
      code: "slow_start",
      level: "note",
      where: "NODE_EXTRA_CA_CERTS",
      message: `Node ${nodeVersion} reads ${certificates} at every start, which makes each command, agent hook and push to a protected branch 60 to 90 ms slower. Node 22 does not.`,
    },
  ];
}
