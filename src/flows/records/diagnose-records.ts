import { breachOf, isAppendOnly } from "../../judge/gates/integrity.ts";
import { isShownHuman } from "../../model/actor.ts";
import { REPAIR } from "../../model/guard-policy.ts";
import { plural } from "../../model/text.ts";
import type { Diagnosis, Specialist } from "../../ports/doctor.ts";
import { bringBackTaken, tellBack } from "../sync/exchange.ts";
import { findDoubts, findTakenBack } from "./find-doubts.ts";

/** Whether the records are what pawl wrote, and whether all of them are still there. */
export const recordsSpecialist: Specialist = {
  async examine(hands) {
    const damage = await (await hands.git.stateFolder()).damage();
    const damaged: Diagnosis[] =
      damage === undefined
        ? []
        : [
            {
              code: "state_damaged",
              level: "problem",
              where: "pawl/state",
              message: `The history of the records is damaged: ${damage}. The records themselves are files and are still there.`,
              command: REPAIR,
            },
          ];
    const doubts = [...(await findTakenBack(hands)), ...(await findDoubts(hands))].map((one): Diagnosis => {
      const { code, message, command } = breachOf(one);
      return { code, level: "problem", where: one.path, message, command };
    });
    return [...damaged, ...doubts];
  },

  async repair(hands, found) {
    const folder = await hands.git.stateFolder();
    const repaired = found.some((one) => one.code === "state_damaged") ? await folder.repair() : undefined;
    const again = await bringBackTaken(hands, await hands.git.stateExchange());
    const doubts = await findDoubts(hands);
    const lost = doubts.filter(
      (one) => one.why === "missing" || (one.why === "altered" && isAppendOnly(one.path)),
    );
    const back = await folder.bringBack(lost.map((one) => one.path));
    // A person has to find out whose unknown record this is.
    const madeUp = doubts.filter((one) => one.why === "unexplained" && isAppendOnly(one.path));
    const mayLook = isShownHuman(await hands.situation("write"));
    const aside = mayLook ? folder.setAside(madeUp.map((one) => one.path)) : [];
    return [
      ...(repaired === undefined
        ? []
        : [
            `The state's history was restored to ${repaired.slice(0, 12)}, and the records were committed again.`,
          ]),
      ...(again ? [tellBack(again)] : []),
      ...(back.length > 0
        ? [`${plural(back.length, "record")} restored from the state's history: ${back.join(", ")}`]
        : []),
      ...aside.map(({ path, to }) => `${path} is not one of pawl's records; it was moved to ${to}.`),
    ];
  },
};
