import { Failure } from "../model/failure.ts";
import type { Command } from "../ports/operation.ts";
import { optionName } from "./arguments.ts";

/** A wrong line, told as it is typed: which option is meant, an example that is right, and where to read more. */
export function explainUsage(command: Command, failure: Failure): Failure {
  const typed = `pawl ${command.id.replace(".", " ")}`;
  const { issues, field = "" } = (failure.details ?? {}) as { issues?: Issue[]; field?: string };
  const message = issues
    ? `${issues.map(({ problem }) => withOptionName(command, problem)).join("; ")}.`
    : failure.message;
  const option = `--${optionName(field)}`;
  const example = command.examples.find((one) => one.includes(`${option} `)) ?? command.examples[0];
  const hint = [failure.hint, `For example: ${example}`, `\`${typed} --help\` explains it.`];
  return new Failure("usage", failure.code, message, {
    hint: hint.filter((line) => line !== undefined).join("\n"),
    details: failure.details ?? {},
    cause: failure,
  });
}

interface Issue {
  field: string;
  problem: string;
}

/** Inputs call a field by its name; on the command line it is an option, a word in its place, or what follows `--`. */
function withOptionName(command: Command, problem: string): string {
  return problem.replace(/^"([^"]+)"/, (_, field: string) => {
    if (field === command.cli?.rest) return "a command after `--`";
    return command.cli?.positional?.includes(field)
      ? optionName(field).toUpperCase()
      : `--${optionName(field)}`;
  });
}
