protected() {
	# @protected
	return 1
}

# What a ref is at, in $tip; empty when there is no such ref. Refs that lie in tables can only be asked for.
look_up() {
	tip=
	if [ -f "$home/$1" ]; then
		read -r tip rest <"$home/$1"
	elif [ -f "$home/packed-refs" ] || [ -d "$home/reftable" ]; then
		tip=$(git rev-parse -q --verify "$1" 2>/dev/null) || tip=
	fi
}

# The branch that is checked out here, in $head; empty when there is none.
read_head() {
	read -r kind head <"$own/HEAD"
	[ "$kind" = ref: ] || head=
	[ -d "$home/reftable" ] && head=$(git symbolic-ref -q HEAD)
	return 0
}

# A human opened this branch, and the time is not over. The clock needs a process; only who unlocked pays for it.
unlocked() {
	[ -f "$home/pawl/grants/unlock/$1" ] || return 1
	read -r until who <"$home/pawl/grants/unlock/$1"
	case $until in '' | *[!0-9]*) return 1 ;; esac
	now=$(date +%s) && [ "$now" -lt "$until" ] && [ "$((until - now))" -le @LONGEST_UNLOCK@ ]
}

# An address without the name and password that may be in it.
plain() {
	case $1 in
	http://* | https://* | ftp://* | ftps://*)
		rest=${1#*://}
		host=${rest%%[/?#]*}
		printf '%s\n' "${1%%://*}://${host##*@}${rest#"$host"}"
		;;
	*) printf '%s\n' "$1" ;;
	esac
}

# Where the remote $1 leads: what is fetched from, and then all that is pushed to. A single command's own settings have no
# say in it.
way_to() {
	unset GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS
	set -f
	IFS='
'
	for one in $(git ls-remote --get-url -- "$1" && git remote get-url --push --all -- "$1"); do plain "$one"; done
}

# Whether the remote $1 has $4 under the name of $3, and still leads where a human confirmed it, which is $2.
believe() {
	[ "$(git rev-parse -q --verify "refs/remotes/$1/${3#refs/heads/}" 2>/dev/null)" = "$4" ] || return 0
	if [ "$(way_to "$1")" = "$2" ]; then found=1; else elsewhere=$1; fi
}

# Whether $3 is what a trusted remote has under this very name, and going there from $2 loses nothing. $tracked tells
# afterwards whether any remote has the name at all, and $elsewhere which one leads somewhere else than it did.
from_remote() {
	tracked=$(git for-each-ref '--format=%(objectname)' "refs/remotes/*/${1#refs/heads/}") found= elsewhere=
	# @remotes
	[ -n "$found" ] || return 1
	case $2 in *[!0]*) git merge-base --is-ancestor "$2" "$3" ;; esac
}

# The task whose approved merge is at $1, the tip of $2, while a remote went on without it: it is merged once more.
overtaken() {
	task=$(git log -1 '--format=%(trailers:key=Pawl-Task,valueonly)' "$1" 2>/dev/null) || return 1
	case $task in T*[!0-9]* | T) return 1 ;; T*) ;; *) return 1 ;; esac
	apart=
	for theirs in $(git for-each-ref '--format=%(objectname)' "refs/remotes/*/${2#refs/heads/}"); do
		git merge-base --is-ancestor "$1" "$theirs" && return 1
		git merge-base --is-ancestor "$theirs" "$1" || apart=1
	done
	[ -n "$apart" ] || return 1
	WAY="The remote moved before the merge of $task was pushed. A human has to merge it again: pawl approve $task --redo --push"
}

# The way that is open to somebody whose pull was refused because nobody trusts the remote, or not where it leads now.
say_way() {
	look_up "$1"
	overtaken "$tip" "$1" && return 0
	[ -z "${found-}" ] || return 0
	if [ -n "${elsewhere-}" ]; then
		WAY="$elsewhere no longer points where a human confirmed. A human has to check it and confirm it again: pawl remote trust $elsewhere"
		return
	fi
	for seen in $(git for-each-ref '--format=%(refname)' --points-at "$2" "refs/remotes/*/${1#refs/heads/}" 2>/dev/null); do
		seen=${seen#refs/remotes/}
		WAY="${seen%%/*} is not a trusted remote. A human can trust it: pawl remote trust ${seen%%/*}"
	done
}
