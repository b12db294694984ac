import { programOf, type Script, type ShellCommand } from "./shell/command.ts";

/** Commands that most projects check themselves with, by their first words. */
const USUAL = [
  /^(?:npm|pnpm|yarn|bun) (?:run )?(?:test|check|lint|typecheck)(?::\S+)?\b/,
  /^(?:npx |pnpm |yarn |bunx )?(?:vitest|jest|mocha|ava|tsc|eslint|biome|playwright test)\b/,
  /^(?:python3? -m )?(?:pytest|unittest)\b|^tox\b|^nox\b/,
  /^(?:cargo|go|dotnet|deno|swift|mix|gradle|\.\/gradlew|mvn|\.\/mvnw|bazel|sbt) (?:test|check|vet)\b/,
  /^make (?:test|check|lint)\b|^ctest\b|^(?:bundle exec )?(?:rspec|rake test)\b|^(?:vendor\/bin\/)?phpunit\b/,
  /^node --test\b/,
];

/** Words without which no line can hold a check; the policy's own words are looked for as well. */
export const MAY_BE_CHECK = /test|check|lint|spec|tsc|vet|jest|mocha|ava|tox|nox|biome/;

/** The check that an agent ran by itself, as text; undefined when the line holds none. `policy` is .pawl/config.yaml. */
export function checkRunIn(script: Script, policy: string): string | undefined {
  return script.commands.map(printCommand).find((text) => text !== undefined && isCheck(text, policy));
}

function printCommand(command: ShellCommand): string | undefined {
  if (programOf(command).startsWith("pawl") || command.words.some((word) => /pawl\.[cm]?js$/.test(word.text)))
    return undefined;
  const plain = command.words.every((word) => word.known && /^[\w./:=@%+,-]+$/.test(word.text));
  return plain ? command.words.map((word) => word.text).join(" ") : undefined;
}

function isCheck(text: string, policy: string): boolean {
  return USUAL.some((one) => one.test(text)) || (text.includes(" ") && policy.includes(text));
}

export const offerWords = (check: string) =>
  `\`${check}\` ran outside pawl, so its result is not recorded. To make it evidence for the task, let pawl run it: \`pawl verify -- ${check}\` (with --red for a test that must fail first).`;
