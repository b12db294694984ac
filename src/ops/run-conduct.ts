import * as z from "zod/mini";
import { conductParallel } from "../flows/run/run-conduct.ts";
import { conductPipeline } from "../flows/run/run-pipeline.ts";
import { storedRun } from "../flows/run/run-records.ts";
import { Failure } from "../model/failure.ts";
import { parsePartRef } from "../model/ids.ts";
import { line } from "../model/input.ts";
import type { Hands } from "../ports/hands.ts";
import { procedure } from "./operation.ts";

export const runConduct = procedure({
  id: "run.conduct",
  summary: "Start a conductor's runs as slots become free",
  examples: ["pawl run conduct T0001/R1"],
  internal: true,
  access: "write",
  cli: { positional: ["run"] },
  input: z.strictObject({ run: line("the conductor's own run", "R", 40) }),

  async rehearse(hands, input) {
    return (await choose(hands, input.run)).tasks.map((task) => ({ do: "start", path: task }));
  },

  async perform(hands, input) {
    const value = await choose(hands, input.run);
    let well = false;
    return {
      data: { run: value },
      live: { endsWell: () => well },
      async *body() {
        const conduct = value.mode === "pipeline" ? conductPipeline : conductParallel;
        const steps = conduct(hands, value.id);
        for (;;) {
          const { value: said, done } = await steps.next();
          if (done) {
            well = said;
            return;
          }
          yield new TextEncoder().encode(`${said}\n`);
        }
      },
    };
  },

  text: ({ run }) => run.id,
});

/** Only a run that was made to conduct has anything to do here, and only its own process does it. */
async function choose(hands: Hands, named: string) {
  const { task, part } = parsePartRef(named, "R", "run");
  const id = `${task}/${part}`;
  const { run: own } = await hands.situation("write");
  const value = await hands.look((reader) => storedRun(reader, id).value);
  if (value.role === "conductor" && own === id) return value;
  throw new Failure("refused", "no_conductor", `${id} is not conducted from here.`, {
    hint: `pawl run resume ${id}`,
    details: { run: id },
  });
}
