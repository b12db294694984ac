import type { Config } from "../../model/config.ts";
import { quoteLine } from "../../model/printable.ts";
import { commandLine } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";

/**
 * Every command that the repository's own configuration has pawl run, in words for whoever installs it: a repository that
 * somebody else wrote may name any. The protected branch's copy is in force, and the one in the files counts for checks.
 */
export async function configuredCommands(hands: Hands, site: Site): Promise<string[]> {
  const { committed, copy } = await (await hands.git.audits()).branching(site, "own");
  const configs = await hands.look((reader) =>
    [committed, copy].flatMap((text) =>
      text === undefined ? [] : [reader.config(".pawl/config.yaml", text)],
    ),
  );
  return [...new Set(configs.flatMap(commandsIn))];
}

function commandsIn({ format, checks, setup, agents, runner }: Config): string[] {
  const found = [
    ...format.map(
      ({ files, command }) => `${shown(command)} at every commit${files && ` of ${shown(files)}`}`,
    ),
    ...(checks === "none" ? [] : checks).map(
      ({ name, argv }) => `${shown(commandLine(argv))} as the check ${shown(name)}`,
    ),
    setup && `${shown(commandLine(setup))} in every new worktree`,
    ...agents.map(({ name, command }) => command && `${shown(commandLine(command))} as the agent ${name}`),
    runner && `${shown(commandLine(runner))} to start agents with`,
  ];
  return found.filter((one) => one !== undefined);
}

const shown = (text: string) => quoteLine(text, 2000);
