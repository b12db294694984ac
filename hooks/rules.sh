protected() {
	# @protected
	return 1
}

# What a ref is at, in $tip; empty when there is no such ref.
look_up() {
	tip=
	if [ -f "$home/$1" ]; then
		read -r tip rest <"$home/$1"
	elif [ -f "$home/packed-refs" ]; then
		tip=$(git rev-parse -q --verify "$1" 2>/dev/null) || tip=
	fi
}

# A human opened this branch, and the time is not over. The clock needs a process; only who unlocked pays for it.
unlocked() {
	[ -f "$home/pawl/grants/unlock/$1" ] || return 1
	read -r until who <"$home/pawl/grants/unlock/$1"
	case $until in '' | *[!0-9]*) return 1 ;; esac
	now=$(date +%s) && [ "$now" -lt "$until" ] && [ "$((until - now))" -le @LONGEST_UNLOCK@ ]
}

# Whether $3 is what a remote has under this very name, and going there from $2 loses nothing. $tracked tells afterwards
# whether any remote has the name at all.
from_remote() {
	tracked= found=
	for seen in $(git for-each-ref '--format=%(objectname)' "refs/remotes/*/${1#refs/heads/}"); do
		tracked=1
		[ "$seen" = "$3" ] && found=1
	done
	[ -n "$found" ] || return 1
	case $2 in *[!0]*) git merge-base --is-ancestor "$2" "$3" ;; esac
}
