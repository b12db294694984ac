import type { AgentProgram } from "../program.ts";

/**
 * Any program that takes a prompt on standard input. Nothing is known of what it prints, so it is shown as it is, and
 * its exit code alone says how it went.
 */
export function ownCommand(name: string, command: readonly string[]): AgentProgram {
  const [bin = "", ...args] = command;
  const launch = (wish: { more: readonly string[] }) => ({ args: [...args, ...wish.more] });
  return {
    name,
    title: name,
    actor: name,
    bin,
    natives: [],
    paths: [],
    manifest: "",
    session: "chosen",
    resumes: false,
    tells: { turns: false, cost: false },
    countsOn: false,
    endsByEvent: false,
    start: launch,
    resume: launch,
    read: (_event, before) => before,
    show: () => undefined,
  };
}
