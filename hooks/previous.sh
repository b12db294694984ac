# Where hooks were before ours: in the folder that git takes by itself, or wherever another tool pointed it. A relative
# path is relative to the worktree, as it is for git.
previous=$home/hooks
[ -f "$home/pawl/previous" ] && IFS= read -r previous <"$home/pawl/previous"
