import { type CommandRow, firstWords, quoteFor, secondWords, type Values } from "./table.ts";

const quoted = (text: string) => quoteFor("fish", text);

/** How fish is told what may stand there: `-x` takes a value and offers no files, `-r` offers them. */
function offer(values: Values): string {
  if (typeof values === "object") return `-x -a ${quoted(values.words.join(" "))}`;
  if (values === "files") return "-r -F";
  return values === "nothing" ? "-x" : `-x -a '(__pawl_ids ${values})'`;
}

export function fishScript(rows: readonly CommandRow[]): string {
  const lines = [
    ...firstWords(rows).map(
      ({ word, describe }) =>
        `complete -c pawl -n "test -z (__pawl_command)" -a ${word} -d ${quoted(describe)}`,
    ),
    ...[...secondWords(rows)].flatMap(([first, members]) =>
      members.map(
        ({ word, describe }) => `complete -c pawl -n "__pawl_is ${first}" -a ${word} -d ${quoted(describe)}`,
      ),
    ),
    ...rows.flatMap(commandLines),
  ];
  return `# Completion for fish: pawl completions fish > ~/.config/fish/completions/pawl.fish
function __pawl_command
    set -l words
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or set -a words $word
    end
    set -q words[1]; or return
    if contains -- "$words[1..2]" ${rows.map(({ words }) => quoted(words)).join(" ")}
        echo "$words[1..2]"
    else
        echo $words[1]
    end
end

function __pawl_is
    test "$(__pawl_command)" = "$argv"
end

function __pawl_ids
    set -l what (string replace -r 's$' '' $argv[1])
    for line in (pawl $what list 2>/dev/null)
        string match -rq '^(?:\\S+/)?(?<id>[TF]\\d+)\\s+(?<rest>.*)$' -- $line; and printf '%s\\t%s\\n' $id $rest
    end
end

complete -c pawl -f
${lines.join("\n")}
`;
}

function commandLines(row: CommandRow): string[] {
  const at = `complete -c pawl -n "__pawl_is ${row.words}"`;
  const options = row.options.map(({ name, describe, values }) =>
    [at, `-l ${name.slice(2)}`, ...(values ? [offer(values)] : []), `-d ${quoted(describe)}`].join(" "),
  );
  const words = row.positional.flatMap((values) =>
    values === "nothing" ? [] : [`${at} ${offer(values).replace(/^-[xr] /, "")}`],
  );
  return [...options, ...words];
}
