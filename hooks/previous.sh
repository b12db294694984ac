# Where hooks were before ours: in the folder that git takes by itself, or wherever another tool pointed it. A relative
# path is relative to the worktree, as it is for git; one in which the tool has not made its folder uses the main checkout's.
previous=$home/hooks
if [ -f "$home/pawl/previous" ]; then
	IFS= read -r previous <"$home/pawl/previous"
	case $previous in
	/* | [A-Za-z]:*) ;;
	*) [ -d "$previous" ] || case $own in */.git/worktrees/*) previous=${own%/.git/worktrees/*}/$previous ;; esac ;;
	esac
fi
