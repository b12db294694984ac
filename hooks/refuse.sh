refuse() {
	for line in "$@" ${also:+"$also"}; do printf 'pawl: %s\n' "$line"; done >&2
	exit 1
}

BRANCHES="Work on a task's branch (pawl start); a human merges it (pawl approve)."
RESCUE="$BRANCHES
pawl: To take these changes along: pawl rescue TASK"

# What only a human may do is said last, and where a human is likely to read it: on a terminal that bears no agent's sign.
say_unlock() {
	[ -t 2 ] && [ -z "@SIGNS@" ] || return 0
	also="To open it yourself for a while: pawl unlock ${1#refs/heads/} --for 10m"
}
