import { type CommandRow, quoteFor, type Values } from "./table.ts";

/** What bash and zsh say in their own words in the branches of a `case`. */
export interface Dialect {
  shell: "bash" | "zsh";
  /** A pattern for any number. */
  number: string;
  offer(values: Values): string;
}

export const casesIn = ({ shell, number, offer }: Dialect) => {
  const quoted = (text: string) => quoteFor(shell, text);
  return {
    commandCase: ({ words }: CommandRow) =>
      words.includes(" ")
        ? `    ${quoted(words)}) command=${quoted(words)} after=$((after + 1)) ;;`
        : `    ${quoted(`${words} `)}*) command=${quoted(words)} ;;`,

    optionCases: (row: CommandRow) =>
      row.options.flatMap(({ name, values }) =>
        values && values !== "nothing"
          ? [`      ${quoted(`${row.words} ${name}`)}) ${offer(values)} ;;`]
          : [],
      ),

    positionalCases: (row: CommandRow) =>
      row.positional.flatMap((values, index) => {
        if (values === "nothing") return [];
        const anyNumber = row.repeats && index === row.positional.length - 1;
        const pattern = anyNumber ? `${quoted(`${row.words} `)}${number}` : quoted(`${row.words} ${index}`);
        return [`      ${pattern}) ${offer(values)} ;;`];
      }),
  };
};
