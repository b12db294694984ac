import { casesIn } from "./cases.ts";
import { type CommandRow, firstWords, quoteFor, secondWords, type Values } from "./table.ts";

const quoted = (text: string) => quoteFor("zsh", text);
/** `_describe` takes `word:what it is`. */
const described = ({ word, describe }: { word: string; describe: string }) =>
  quoted(`${word.replaceAll(":", "\\:")}:${describe}`);
const listed = (words: readonly { word: string; describe: string }[]) => words.map(described).join(" ");

function offer(values: Values): string {
  if (typeof values === "object") return `compadd -- ${values.words.join(" ")}`;
  return values === "nothing" ? ":" : values === "files" ? "_files" : `_pawl_ids ${values}`;
}

const { commandCase, optionCases, positionalCases } = casesIn({ shell: "zsh", number: "<->", offer });

export function zshScript(rows: readonly CommandRow[]): string {
  const seconds = [...secondWords(rows)];
  return `#compdef pawl
# Completion for zsh. In ~/.zshrc, after compinit: eval "$(pawl completions zsh)"
_pawl_ids() {
  local -a found
  local id rest what=\${1%s}
  "\${words[1]}" $what list 2>/dev/null | while read -r id rest; do
    [[ $id == T[0-9]* ]] && found+=("\${id##*/}:$rest")
  done
  _describe -t $1 $what found
}

_pawl() {
  local first second command word prev=\${words[CURRENT-1]} skip
  local -a found valued
  local -i i place=0 after=2
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    [[ $word == -* ]] && continue
    if [[ -z $first ]]; then first=$word after=$((i + 1))
    elif [[ -z $second ]]; then second=$word; fi
  done
  if [[ -z $first && $PREFIX != -* ]]; then
    found=(${listed(firstWords(rows))})
    _describe -t commands command found
    return
  fi
  case "$first $second" in
${rows.map(commandCase).join("\n")}
  esac
  if [[ -z $command && $PREFIX != -* ]]; then
    case $first in
${seconds.map(([first, members]) => `      ${first}) found=(${listed(members)}) ;;`).join("\n")}
    esac
    _describe -t commands command found
    return
  fi

  case $command in
${rows.map(optionLists).join("\n")}
    *) found=('--help:show help' '--version:show the version' '--json:print one JSON object') ;;
  esac
  for ((i = after; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ $word == -- ]]; then _normal -p pawl; return
    elif [[ -n $skip ]]; then skip=
    elif (( \${valued[(Ie)$word]} )); then skip=1
    elif [[ $word != -* ]]; then place=$((place + 1))
    fi
  done

  if [[ $PREFIX == --*=* ]]; then
    prev=\${PREFIX%%=*}
    compset -P '*='
  elif [[ $PREFIX == -* && -z $skip ]]; then
    _describe -o -t options option found
    return
  fi
  if (( \${valued[(Ie)$prev]} )); then
    case "$command $prev" in
${rows.flatMap(optionCases).join("\n")}
    esac
  else
    case "$command $place" in
${rows.flatMap(positionalCases).join("\n")}
    esac
  fi
}

if [[ \${funcstack[1]} == _pawl ]]; then _pawl "$@"; else compdef _pawl pawl; fi
`;
}

function optionLists(row: CommandRow): string {
  const options = row.options.map(({ name, describe }) => ({ word: name, describe }));
  const valued = row.options.filter(({ values }) => values).map(({ name }) => name);
  return `    ${quoted(row.words)}) found=(${listed(options)}) valued=(${valued.join(" ")}) ;;`;
}
