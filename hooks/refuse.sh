refuse() {
	for line; do printf 'pawl: %s\n' "$line"; done >&2
	exit 1
}
