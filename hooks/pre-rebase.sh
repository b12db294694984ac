#!/bin/sh
# Written by pawl: a rebase that the guard would refuse at its end, with everything taken apart, is refused before it begins.
# @include where
# @include refuse
# @include rules
branch=${2:+refs/heads/$2}
if [ -z "$branch" ]; then
	read_head
	branch=$head
fi
if protected "$branch" && ! unlocked "$branch"; then
	look_up "$branch"
	new=$(git rev-parse -q --verify "${1:-HEAD}^{commit}" 2>/dev/null) || new=
	WAY="Rebase a task's branch instead (pawl start). To get what the remote has: git pull --ff-only"
	if [ -z "$new" ] || ! from_remote "$branch" "$tip" "$new"; then
		[ -z "$new" ] || say_way "$branch" "$new"
		say_unlock "$branch"
		refuse "refused: ${branch#refs/heads/} is protected and cannot be rebased." "$WAY"
	fi
fi
# @include previous
[ -x "$previous/pre-rebase" ] && exec "$previous/pre-rebase" "$@"
exit 0
