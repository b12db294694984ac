# A shell that is bash takes functions from the environment; ours are the shell's own.
unset -f read printf command git date
# Where we are, from what git itself says: never from a path that was true when this was written, because repositories
# are moved and copied. `home` is the git directory that all worktrees share, `site` is the name of this one in it.
IFS=' 	
'
own=${GIT_DIR:-.git}
site=.
home=$own
if [ -f "$own/commondir" ]; then
	read -r home <"$own/commondir"
	case $home in /* | [A-Za-z]:*) ;; *) home=$own/$home ;; esac
	case $own in .) site=worktrees/${PWD##*/} ;; *) site=${own%/} site=worktrees/${site##*/} ;; esac
fi
home=${GIT_COMMON_DIR:-$home}
