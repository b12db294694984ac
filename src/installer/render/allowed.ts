import { LAUNCHER } from "./engine.ts";

/** How one agent's permissions name a call: `{command}` and `{tool}` are ours, `{launcher}` is how pawl is run. */
export interface Allow {
  command: string;
  tool: string;
}

/**
 * What an agent may be allowed to call without asking each time: operations that read, or write nothing but our own
 * records. Not `verify`, which runs any command, nor what moves git (`start`, `refresh`, `finish`) or talks to a remote.
 */
const PREAPPROVED: readonly string[] = [
  ...["session", "context", "status", "search", "check", "diff", "log"],
  ...["task.list", "task.show", "task.ready", "task.new", "task.update"],
  ...["slice.open", "slice.close", "decide", "touch", "handoff", "snapshot"],
  ...["finding.add", "finding.batch", "finding.list", "finding.resolve", "finding.reopen", "finding.wontfix"],
  ...["review.start", "review.record", "note.add", "note.list", "repo.list"],
];

/** Both ways to make one call, in an agent's own words. */
function allowedCalls(id: string, { command, tool }: Allow): string[] {
  const words = id.replace(".", " ");
  return [
    command.replace("{launcher}", LAUNCHER).replace("{command}", words),
    tool.replace("{tool}", id.replace(".", "_")),
  ];
}

/** Every call that a skill's text tells an agent to make, as far as it may be allowed beforehand. */
export function allowedIn(text: string, allow: Allow): string[] {
  const said = [...text.matchAll(/`(?:node [^ `]+|pawl) ([a-z]+)(?: ([a-z]+))?/g)];
  const ids = said.flatMap(([, first = "", second = ""]) => [first, `${first}.${second}`]);
  return PREAPPROVED.filter((id) => ids.includes(id)).flatMap((id) => allowedCalls(id, allow));
}
