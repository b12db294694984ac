import { breachOf, isAppendOnly } from "../../judge/gates/integrity.ts";
import { isHuman } from "../../model/actor.ts";
import { plural } from "../../model/text.ts";
import type { Specialist } from "../../ports/doctor.ts";
import { findDoubts } from "./find-doubts.ts";

/** Whether the records are what pawl wrote, and whether all of them are still there. */
export const recordsSpecialist: Specialist = {
  async examine(hands) {
    return (await findDoubts(hands)).map((one) => {
      const { code, message, command } = breachOf(one);
      return { code, level: "problem" as const, where: one.path, message, command };
    });
  },

  async repair(hands) {
    const doubts = await findDoubts(hands);
    const folder = await hands.git.stateFolder();
    const lost = doubts.filter(
      (one) => one.why === "missing" || (one.why === "altered" && isAppendOnly(one.path)),
    );
    const back = await folder.bringBack(lost.map((one) => one.path));
    const { actor } = await hands.situation("write");
    // Whose record it is that nobody knows of is for a person to look at.
    const madeUp = doubts.filter((one) => one.why === "unexplained" && isAppendOnly(one.path));
    const aside =
      hands.agent === undefined && isHuman(actor) ? folder.setAside(madeUp.map((one) => one.path)) : [];
    return [
      ...(back.length > 0
        ? [`${plural(back.length, "record")} came back from the state's history: ${back.join(", ")}`]
        : []),
      ...aside.map(({ path, to }) => `${path} is no record of pawl's; it was moved to ${to}.`),
    ];
  },
};
