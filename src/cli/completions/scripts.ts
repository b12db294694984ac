/**
 * What a shell runs when Tab is pressed: it asks the program (`pawl __complete`), whose every line is a word, a tab and what
 * it is; `:files` and `:command` mean that the shell knows better.
 */
export type Shell = keyof typeof SCRIPTS;

/** Runs on bash 3.2, which macOS has: no `mapfile`, and no `compopt`. */
const BASH = `# Completion for bash. In ~/.bashrc: eval "$(pawl completions bash)"
_pawl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} word describe
  [[ $cur == "=" ]] && cur=
  COMPREPLY=()
  while IFS=$'\\t' read -r word describe; do
    case $word in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
        ;;
      :command) compopt -o default 2>/dev/null ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _pawl pawl
`;

const ZSH = `#compdef pawl
# Completion for zsh. In ~/.zshrc, after compinit: eval "$(pawl completions zsh)"
_pawl() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) _files; return ;;
      :command) _normal -p pawl; return ;;
      ?*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  _describe -t words pawl found
}

if [[ \${funcstack[1]} == _pawl ]]; then _pawl "$@"; else compdef _pawl pawl; fi
`;

const FISH = `# Completion for fish: pawl completions fish > ~/.config/fish/completions/pawl.fish
function __pawl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -e words[1]
    for line in (pawl __complete -- $words "$current" 2>/dev/null)
        if contains -- $line :files :command
            __fish_complete_path $current
        else
            echo $line
        end
    end
end
complete -c pawl -f -a '(__pawl_complete)'
`;

export const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
