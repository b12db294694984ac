import { casesIn } from "./cases.ts";
import { type CommandRow, firstWords, quoteFor, secondWords, type Values } from "./table.ts";

const quoted = (text: string) => quoteFor("bash", text);

/** What the branch of a `case` does to offer these. Words are told apart by spaces, and none of ours has any. */
function offer(values: Values): string {
  if (typeof values === "object") return `words=${quoted(values.words.join(" "))}`;
  return values === "nothing" ? ":" : values === "files" ? "files=1" : `words=$(_pawl_ids ${values})`;
}

const { commandCase, optionCases, positionalCases } = casesIn({ shell: "bash", number: "[0-9]*", offer });

/** Runs on bash 3.2, which macOS has: no associative arrays, no `mapfile`. */
export function bashScript(rows: readonly CommandRow[]): string {
  const seconds = [...secondWords(rows)];
  return `# Completion for bash. In ~/.bashrc: eval "$(pawl completions bash)"
_pawl_ids() {
  local id rest
  case $1 in
    tasks) "\${COMP_WORDS[0]}" task list 2>/dev/null ;;
    findings) "\${COMP_WORDS[0]}" finding list 2>/dev/null ;;
  esac | while read -r id rest; do
    case $id in T[0-9]*) echo "\${id##*/}" ;; esac
  done
}

_pawl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  local first= second= command= word= words= valued= files= rest= skip= i place=0 after=1
  COMPREPLY=()
  # bash gives "--status=open" as three words.
  if [[ $cur == "=" ]]; then cur=
  elif [[ $prev == "=" ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi

  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    [[ $word == -* ]] && continue
    if [[ -z $first ]]; then first=$word after=$((i + 1))
    elif [[ -z $second ]]; then second=$word; fi
  done
  if [[ -z $first && $cur != -* ]]; then
    COMPREPLY=($(compgen -W ${quoted(
      firstWords(rows)
        .map(({ word }) => word)
        .join(" "),
    )} -- "$cur"))
    return
  fi
  case "$first $second" in
${rows.map(commandCase).join("\n")}
  esac
  if [[ -z $command && $cur != -* ]]; then
    case $first in
${seconds.map(([first, members]) => `      ${first}) words=${quoted(members.map(({ word }) => word).join(" "))} ;;`).join("\n")}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi

  case $command in
${rows.map((row) => `    ${quoted(row.words)}) words=${quoted(row.options.map(({ name }) => name).join(" "))} valued=${quoted(` ${valuedOf(row).join(" ")} `)}${row.rest ? " rest=1" : ""} ;;`).join("\n")}
    *) words='--help --version --json' ;;
  esac
  for ((i = after; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == -- && -n $rest ]]; then
      compopt -o default 2>/dev/null
      return
    elif [[ $word == "=" ]]; then skip=1
    elif [[ -n $skip ]]; then skip=
    elif [[ $valued == *" $word "* ]]; then skip=1
    elif [[ $word != -* ]]; then place=$((place + 1))
    fi
  done

  if [[ $cur == -* && $valued != *" $prev "* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  words=
  if [[ $valued == *" $prev "* ]]; then
    case "$command $prev" in
${rows.flatMap(optionCases).join("\n")}
    esac
  else
    case "$command $place" in
${rows.flatMap(positionalCases).join("\n")}
    esac
  fi
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _pawl pawl
`;
}

const valuedOf = (row: CommandRow) => row.options.filter(({ values }) => values).map(({ name }) => name);
