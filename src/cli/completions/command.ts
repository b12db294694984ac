import * as z from "zod/mini";
import { partOf } from "../../model/ids.ts";
import { choice, many, raw } from "../../model/input.ts";
import { firstLine } from "../../model/text.ts";
import type { OwnCommand } from "../commands.ts";
import { type Candidate, candidatesFor } from "./candidates.ts";
import { SCRIPTS, type Shell } from "./scripts.ts";

const shellInput = z.strictObject({ shell: choice(["bash", "zsh", "fish"], "which shell") });

export const completions: OwnCommand<typeof shellInput, { completions: { shell: Shell; script: string } }> = {
  id: "completions",
  summary: "Print what your shell needs to complete pawl's commands",
  details:
    'bash: put `eval "$(pawl completions bash)"` into ~/.bashrc. zsh: the same with zsh into ~/.zshrc, after compinit.\nfish: `pawl completions fish > ~/.config/fish/completions/pawl.fish`.\nThe script asks pawl on every Tab, so it stays correct when pawl is upgraded.',
  examples: ["pawl completions bash", "pawl completions zsh", "pawl completions fish"],
  access: "read",
  cli: { positional: ["shell"] },
  input: shellInput,
  answer: ({ shell }) => ({ data: { completions: { shell, script: SCRIPTS[shell] } } }),
  text: ({ completions: { script } }) => script,
};

const wordsInput = z.strictObject({
  words: many(raw("the words after pawl; the last is being typed", "WORD")),
});

/** Called by those scripts. */
export const complete: OwnCommand<typeof wordsInput, { complete: string[] }> = {
  id: "__complete",
  summary: "What could stand where the cursor is",
  examples: ["pawl __complete -- task l"],
  internal: true,
  access: "read",
  cli: { rest: "words" },
  input: wordsInput,
  async answer({ words = [""] }, { loadAll, ask }) {
    const offer = await candidatesFor(words, {
      commands: await loadAll(),
      tasks: () => recordsOf(() => ask("task.list"), "tasks"),
      findings: () => recordsOf(() => ask("finding.list"), "findings"),
    });
    const lines = typeof offer === "string" ? [`:${offer}`] : offer.map(lineOf);
    return { data: { complete: lines } };
  },
  text: ({ complete: lines }) => lines.join("\n"),
};

const lineOf = ({ word, describe }: Candidate) => `${word}\t${firstLine(describe)}`;

/** Where there is nothing to read, there is nothing to offer. */
async function recordsOf(ask: () => Promise<unknown>, kind: string): Promise<Candidate[]> {
  try {
    const found = (await ask()) as Record<string, { id: string; title?: string; text?: string }[]>;
    return (found[kind] ?? []).map(({ id, title, text }) => ({
      word: partOf(id),
      describe: title ?? text ?? "",
    }));
  } catch {
    return [];
  }
}
