import type { Config } from "../../model/config.ts";
import { Failure } from "../../model/failure.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import { quoteLine } from "../../model/printable.ts";
import { commandLine } from "../../model/text.ts";
import type { Diagnosis } from "../../ports/doctor.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";

/**
 * Every command that the repository's own configuration has pawl run, in words for whoever installs it: a repository that
 * somebody else wrote may name any. The protected branch's copy is in force, and the one in the files counts for checks.
 */
export async function configuredCommands(hands: Hands, site: Site): Promise<string[]> {
  return [...new Set((await configsOf(hands, site)).flatMap(commandsIn))];
}

async function configsOf(hands: Hands, site: Site): Promise<Config[]> {
  const { committed, copy } = await (await hands.git.audits()).branching(site, "own");
  return hands.look((reader) =>
    [committed, copy].flatMap((text) => (text === undefined ? [] : [reader.config(POLICY_FILE, text)])),
  );
}

/** Which configured checks, and which setup, cannot run here, because this machine lacks their program. */
export async function examinePrograms(hands: Hands): Promise<Diagnosis[]> {
  const installation = await hands.git.installation();
  const [config] = await configsOf(hands, (await hands.git.sites()).here()).catch(unreadable);
  if (!config) return [];
  const { checks, setup, env } = config;
  const named = [
    ...(checks === "none" ? [] : checks).map(({ name, argv }) => ({
      what: `the check ${shown(name)}`,
      argv,
    })),
    ...(setup ? [{ what: "setup", argv: setup }] : []),
  ];
  return named.flatMap(({ what, argv }) => {
    const [first = "", option, line = ""] = argv;
    const missing = installation.missingPrograms([first === "sh" && option === "-c" ? line : first], env);
    return missing.map((program) => ({
      code: "program_missing",
      level: "note" as const,
      where: POLICY_FILE,
      message: `${shown(program)} is not on the PATH that checks run with, so ${what} cannot run here: ${shown(commandLine(argv))}`,
    }));
  });
}

/** The guard's own check reports a policy that cannot be read. */
function unreadable(error: unknown): Config[] {
  if (error instanceof Failure) return [];
  throw error;
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
