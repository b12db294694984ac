#!/bin/sh
# Written by pawl: the format check of what is about to be committed, and then the hook that was here before.
# @include where
# @include refuse
# @include rules
# @include early

# The files of this very commit: git names its index in the environment, also for `commit -a` and `commit -- path`.
staged() { git diff --cached --diff-filter=ACMR --ignore-submodules "$@"; }

# A name that begins like an option is written so that nobody takes it for one.
NAMES='[ $# -gt 0 ] || exit 0
for name; do
	case $name in -*) name=./$name ;; esac
	set -- "$@" "$name"
	shift
done
'

# Gives the names of the files that match $1 to $2. Without xargs they are read line by line, and git quotes in that
# case what has an end of line in it.
each() {
	if command -v xargs >/dev/null; then
		staged --name-only -z -- "$1" | xargs -0 sh -c "$NAMES$2" sh
		return
	fi
	names=$(git -c core.quotePath=false diff --cached --diff-filter=ACMR --ignore-submodules --name-only -- "$1") || return
	case "
$names" in *'
"'*) refuse "refused: this commit has a file name that the format check can take only through xargs, which is not installed." ;; esac
	command=$NAMES$2
	set -f
	IFS='
'
	set -- $names
	set +f
	IFS=' 	
'
	sh -c "$command" sh "$@"
}

check() {
	staged --quiet -- "$1"
	case $? in
	0) return ;;
	1) ;;
	*) refuse "refused: pawl cannot tell which files are in this commit, so it cannot check their format." ;;
	esac
	if [ -n "$3" ]; then each "$1" "$3"; else sh -c "$2"; fi ||
		refuse "refused: the format check failed: $2" "Fix it, stage the fix and commit again."
}

# @format
# @include previous
[ -x "$previous/pre-commit" ] && exec "$previous/pre-commit" "$@"
exit 0
