import * as z from "zod/mini";
import { chooseRun } from "../flows/run/run-choose.ts";
import { follow } from "../flows/run/run-follow.ts";
import { limitsOf } from "../flows/run/run-limits.ts";
import { expectMayResume, resumeRun } from "../flows/run/run-resume.ts";
import { nextAfterStart } from "../judge/runs/outcome.ts";
import { count, flag, line, maybe, prose } from "../model/input.ts";
import { procedure } from "./operation.ts";

export const runResume = procedure({
  id: "run.resume",
  summary: "Continue a run that has ended, after a stop, a limit, a crash or a reboot",
  details:
    "The same agent continues its own conversation in the same worktree. Where that is not possible, and with\n--agent or --fresh, a new conversation begins with the task's packet, the saved work and the end of the log.",
  examples: [
    "pawl run resume T0001",
    'pawl run resume T0001/R1 "Use the existing retry helper" --time 30m',
    "pawl run resume T0001 --agent codex",
  ],
  access: "write",
  cli: { positional: ["run", "message"] },
  input: z.strictObject({
    run: maybe(line("a run, or a task for its latest run", "R", 40)),
    message: maybe(prose("a message for it")),
    agent: maybe(line("another agent", "NAME", 40)),
    model: maybe(line("another model (default: as before)", "MODEL", 100)),
    fresh: flag("a new conversation, even if the old one could continue"),
    time: maybe(line("time limit (default: as before)", "TIME", 20)),
    idle: maybe(line("stop it after this much silence", "TIME", 20)),
    cost: maybe(line("cost limit in US dollars", "USD", 20)),
    turns: maybe(count("limit on the model's turns")),
    follow: flag("show what it does until it ends"),
  }),

  async rehearse(hands, input) {
    const value = await hands.look((reader, at) => chooseRun(reader, input.run, at));
    await expectMayResume(hands, value);
    return [{ do: "resume", path: `${value.id} with ${input.agent ?? value.agent}` }];
  },

  async perform(hands, input) {
    const value = await hands.look((reader, at) => chooseRun(reader, input.run, at));
    const { run, same } = await resumeRun(hands, value, {
      message: input.message,
      agent: input.agent,
      model: input.model,
      fresh: input.fresh ?? false,
      limits: (before) => limitsOf(input, before),
    });
    const resumed = { data: { run, same_session: same }, next: nextAfterStart([run.id], hands.agent) };
    return input.follow ? { ...resumed, ...follow(hands, run) } : resumed;
  },

  text: ({ run, same_session }, style) =>
    `${style.bold(run.id)} attempt ${run.attempts.length}: ${run.agent} ${same_session ? "continues its conversation" : "begins a new conversation"}`,
});
