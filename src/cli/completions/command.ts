import * as z from "zod/mini";
import { choice } from "../../model/input.ts";
import type { OwnCommand } from "../own-commands.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { completionTable } from "./table.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
const input = z.strictObject({ shell: choice(["bash", "zsh", "fish"], "which shell") });

export const completions: OwnCommand<typeof input, { completions: { shell: string; script: string } }> = {
  id: "completions",
  summary: "Print what your shell needs to complete pawl's commands",
  details:
    'bash: put `eval "$(pawl completions bash)"` into ~/.bashrc. zsh: the same with zsh into ~/.zshrc, after compinit.\nfish: `pawl completions fish > ~/.config/fish/completions/pawl.fish`.\nCommands, options and their values are in the script; ids of tasks and findings are asked for when Tab is pressed.',
  examples: ["pawl completions bash", "pawl completions zsh", "pawl completions fish"],
  access: "read",
  cli: { positional: ["shell"] },
  input,
  answer: ({ shell }, commands) => ({
    data: { completions: { shell, script: SCRIPTS[shell](completionTable(commands)) } },
  }),
  text: ({ completions: { script } }) => script,
};
