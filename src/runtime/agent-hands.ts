import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { openAgents } from "../agents/open.ts";
import type { Place } from "../git/discover.ts";
import { Failure } from "../model/failure.ts";
import type { Agents } from "../ports/agents.ts";
import { type Home, runsDir } from "../store/layout.ts";
import { builtProgram, programOf } from "./git-hands.ts";
import type { Surroundings } from "./open.ts";

export function openAgentHands({ env }: Surroundings, place: Place, home: Home): Agents {
  const runs = runsDir(home);
  return openAgents(runs, () => ({
    runs,
    env,
    project: place.mainRoot ?? place.commonDir,
    commonDir: place.commonDir,
    node: process.execPath,
    ...programs(place.commonDir),
  }));
}

/**
 * What a run goes on with after this process has ended: the clone's own copy, because the one that runs now may be gone
 * tomorrow; while there is none, the one that runs now.
 */
function programs(commonDir: string): { program: string; supervisor: string } {
  const folders = [programOf(commonDir), builtProgram()].flatMap((one) => one ?? []);
  for (const folder of folders) {
    const supervisor = join(folder, "supervise.cjs");
    if (existsSync(supervisor)) return { program: join(folder, "pawl.cjs"), supervisor };
  }
  throw new Failure("unavailable", "program_missing", "The program that supervises runs is missing.", {
    hint: "To install it in this clone: pawl install",
    details: { looked: folders.map((folder) => dirname(folder)) },
  });
}
