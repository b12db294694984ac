refuse() {
	for line; do printf 'pawl: %s\n' "$line"; done >&2
	exit 1
}

# What only a human may do is said where a human is likely to read it: on a terminal that bears no agent's sign.
say_unlock() {
	[ -t 2 ] && [ -z "@SIGNS@" ] || return 0
	printf 'pawl: %s\n' "You may open it for a while yourself: pawl unlock ${1#refs/heads/} --for 10m" >&2
}
