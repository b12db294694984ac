import type { Diagnosis, Specialist } from "../../ports/doctor.ts";
import type { Hands } from "../../ports/hands.ts";
import { examinePrograms } from "./commands.ts";
import { keepEnvironment } from "./keep-environment.ts";
import { changesIn } from "./request.ts";
import { requestFromLedger } from "./versions.ts";

/** Whether the installed files and the clone's copy of pawl are what they should be. */
export const installationSpecialist: Specialist = {
  async examine(hands) {
    return [...(await hands.git.installation()).examine(), ...(await examinePrograms(hands))];
  },

  async repair(hands, found) {
    const kept =
      found.some((one) => one.code.startsWith("environment_")) && (await keepEnvironment(hands))
        ? ["From now on checks run with the tools of this shell."]
        : [];
    return [...kept, ...(await putBack(hands, found))];
  },
};

async function putBack(hands: Hands, found: readonly Diagnosis[]): Promise<string[]> {
  if (!found.some((one) => /^(?:file_|launcher_|runtime_)/.test(one.code) && one.level === "problem"))
    return [];
  const installation = await hands.git.installation();
  return installation.exclusively(async () => {
    const copied = installation.copyRuntime(true).length > 0;
    const steps = installation.installed() ? installation.apply(requestFromLedger(installation)) : [];
    return [
      ...(copied ? [`The clone's copy of pawl is ${installation.version} and complete again.`] : []),
      ...changesIn(steps).map(({ path }) => `${path} was repaired.`),
    ];
  });
}
