# Stands between the supervisor and the agent, and is the one that waits for the agent: so whichever of the two is
# killed, somebody is left who learns the exit status. Called with the attempt's folder and the command.
att=$1
shift
# Whoever makes this folder decides: the agent runs, or, after somebody gave the attempt up, never will.
mkdir "$att/started" 2>/dev/null || exit 97
# Written at once: whoever reads it before finds nothing in it, which is as if it were not there.
printf %s $$ >"$att/started/pid" || exit 98
# Caught and not ignored: ignored signals would stay ignored in the agent.
trap : TERM INT HUP QUIT
"$@" <"$att/in" >>"$att/out" 2>>"$att/err"
code=$?
# What writes down the end is no part of the agent, which somebody may be ending at this very moment.
unset PAWL_ATTEMPT
printf '{"code":%s,"by":"guard","at":"%s"}' "$code" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$att/exit.$$" &&
  ln "$att/exit.$$" "$att/exit.json" 2>/dev/null
rm -f "$att/exit.$$"
exit "$code"
