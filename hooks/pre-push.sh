#!/bin/sh
# Written by pawl: a push to a protected name needs an explanation for every commit. Node starts only for that.
# @include where
# @include refuse
# @include rules
# A claim says who works on a task: an empty commit without a parent. Nothing else travels under that name.
is_claim() {
	case ${1#refs/pawl/claims/} in [!T]* | T*[!0-9]* | T | '') return 1 ;; esac
	case $2 in *[!0]*) ;; *) return 0 ;; esac
	[ "$(git rev-parse -q --verify "$2^{tree}")" = "$(git hash-object -t tree /dev/null)" ] &&
		! git rev-parse -q --verify "$2^1" >/dev/null
}

all='' named=''
while read -r local_ref local_id remote_ref remote_id; do
	line="$local_ref $local_id $remote_ref $remote_id
"
	all=$all$line
	protected "$remote_ref" && named=$named$line
	case $remote_ref in
	refs/pawl/claims/*) is_claim "$remote_ref" "$local_id" ||
		refuse "refused: $remote_ref holds claims, and this is not a claim." "To claim a task: pawl start" ;;
	esac
done
# Git names nothing here that it refuses by itself, such as a merge that the remote was faster than; its own advice fails.
if [ -z "$all" ] && read_head && protected "$head" && overtaken HEAD "$head"; then
	printf 'pawl: %s\n' "$WAY" >&2
fi
if [ -n "$named" ]; then
	node=@NODE@
	[ -x "$node" ] || node=$(command -v node) ||
		refuse "refused: pawl cannot tell whether this push to a protected branch was approved, because it did not find Node." \
			"Put node on the PATH and push again."
	program=$home/pawl/runtime/pawl.cjs
	[ -f "$program" ] || program=@PROGRAM@
	[ -f "$program" ] ||
		refuse "refused: the pawl program is missing, so nothing can tell whether this push to a protected branch was approved." \
			"Reinstall it, then push again: pawl install --profile hooks"
	# Nothing that the environment would have Node load first has a say in the answer.
	printf '%s' "$named" | NODE_OPTIONS= NODE_PATH= NODE_EXTRA_CA_CERTS= "$node" "$program" hook pre-push --updates - --remote "${1:-.}" || exit 1
fi
# @include previous
if [ -x "$previous/pre-push" ]; then
	printf '%s' "$all" | "$previous/pre-push" "$@"
	exit $?
fi
exit 0
