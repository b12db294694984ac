import { quoted } from "../model/text.ts";
import type { Runner } from "../ports/agents.ts";

/** What a runner's command may ask for. */
export interface RunnerPlace {
  worktree: string;
  common: string;
  attempt: string;
  name: string;
}

/**
 * Where a run happens is one command in front of the agent's own: nothing, or a container's. Everything else about a run
 * is the same, because its input, its stream and its end are files.
 */
export function inRunner(runner: Runner | undefined, argv: readonly string[], place: RunnerPlace): string[] {
  return runner === undefined ? [...argv] : [...filled(runner.command, place), ...argv];
}

/** What ends a run whose processes cannot be seen from here. */
export const stopIn = (runner: Runner | undefined, place: RunnerPlace) =>
  runner?.stop === undefined ? undefined : filled(runner.stop, place);

/** In a line for the shell the values are words of their own, whatever is in them. */
function filled(command: readonly string[], place: RunnerPlace): string[] {
  const isLine = command[0] === "sh" && command[1] === "-c";
  return command.map((word, nth) =>
    word.replace(/\{(worktree|common|attempt|name)\}/g, (_, key: keyof RunnerPlace) =>
      isLine && nth === 2 ? quoted(place[key]) : place[key],
    ),
  );
}
