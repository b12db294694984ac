import { requiredChecks } from "../../judge/gates/policy.ts";
import type { Check, Config } from "../../model/config.ts";
import { Failure } from "../../model/failure.ts";
import { commandLine } from "../../model/text.ts";
import type { World } from "../../ports/ports.ts";

export interface ChosenCheck {
  name: string | undefined;
  argv: string[];
  /** Said where this branch has another command under the same name. */
  outvoted?: string | undefined;
}

interface Wanted {
  repo?: string | undefined;
  check?: string[] | undefined;
  command?: string[] | undefined;
}

/**
 * The command itself, or the checks that the gates will ask for: a base's check is run as the base has it, whatever this
 * branch makes of it, because nothing else would count.
 */
export async function chooseChecks(
  world: World,
  input: Wanted,
  policy: { branch: string; config: Config } | undefined,
): Promise<ChosenCheck[]> {
  if (input.command && input.command.length > 0) {
    if (!input.check) return [{ name: undefined, argv: input.command }];
    throw new Failure("usage", "check_and_command", "Name a check of the config or a command, not both.");
  }
  const own = await world.config();
  const named = policy ? requiredChecks(policy.config, [own]) : own.checks;
  const checks = named === "none" ? [] : named;
  if (named === "none" && !input.check)
    throw new Failure("usage", "no_checks", "This project's policy requires no checks (checks: none).", {
      hint: "There is nothing to run. To record a command anyway: pawl verify -- npm test",
      details: { field: "command" },
    });
  if (checks.length === 0 || input.check?.length === 0)
    throw new Failure("usage", "no_checks", "No command was given, and .pawl/config.yaml names no checks.", {
      hint: "Give it one, as in `pawl verify -- npm test`, or name the project's checks under `checks:`. A project without tests says `checks: none`.",
      details: { field: "command" },
    });
  const missing = (input.check ?? []).filter((name) => !checks.some((check) => check.name === name));
  if (missing.length > 0)
    throw new Failure("not_found", "no_check", `.pawl/config.yaml has no check ${missing.join(", ")}.`, {
      hint: `It has ${checks.map((check) => check.name).join(", ")}.`,
      details: { field: "check" },
    });
  const chosen = input.check ? checks.filter((check) => input.check?.includes(check.name)) : checks;
  return chosen.map((check) => ({ ...check, outvoted: policy && outvoted(check, own, policy.branch) }));
}

function outvoted(check: Check, own: Config, branch: string): string | undefined {
  const mine = own.checks === "none" ? undefined : own.checks.find((one) => one.name === check.name);
  if (!mine || commandLine(mine.argv) === commandLine(check.argv)) return undefined;
  return `The check "${check.name}" ran as ${branch} has it: \`${commandLine(check.argv)}\`. Your .pawl/config.yaml says \`${commandLine(mine.argv)}\`, which counts once it is on ${branch}; a human changes it there: pawl unlock ${branch} --for 10m`;
}
