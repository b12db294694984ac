#!/bin/sh
# Written by pawl: the guard of this repository's branches. `pawl install` writes it again, `pawl uninstall` removes it.
#
# Git asks here before it changes any ref, whatever the command and its options are. Changes that are always allowed are
# decided with the shell's own words alone, because every commit waits for this twice.
case $1 in prepared | committed) ;; *) exit 0 ;; esac
# @include where
# @include refuse
# @include rules
WAY="$BRANCHES To get what the remote has: git pull --ff-only"
OTHER="For other work, start another task: pawl start \"<what to do>\""

# The file in which the last value of a protected branch is kept that came about before our eyes.
name_tip() {
	left=$1 flat=
	while :; do
		case $left in
		*/*) flat=$flat${left%%/*}~ left=${left#*/} ;;
		*) break ;;
		esac
	done
	tip_file=$home/pawl/tips/$flat$left
}

# Whether the line "$1 $2 $3" changes what the ref is; $old is what it is at. Git writes zeros for an old value that it
# did not have to compare. A new value of zeros deletes only while packed-refs is locked; otherwise a ref that has just
# been packed loses its second copy, or is merely compared. Where refs lie in tables there is nothing to tell the two
# apart by, and nothing is packed.
moves() {
	old=$1
	case $2 in
	*[!0]*) [ "$1" != "$2" ] || return 1 ;;
	*) [ -f "$home/packed-refs.lock" ] || [ -d "$home/reftable" ] || return 1 ;;
	esac
	case $1 in
	*[!0]*) ;;
	*) look_up "$3" && old=${tip:-$1} ;;
	esac
	[ "$old" != "$2" ]
}

granted() {
	[ -f "$home/pawl/grants/update/$3" ] || return 1
	read -r from to ref <"$home/pawl/grants/update/$3"
	[ "$from $to $ref" = "$1 $2 $3" ]
}

# Who may move a task's branch; nothing for other branches.
read_binding() {
	bound=
	[ -f "$home/pawl/grants/worktree/$1" ] && read -r bound <"$home/pawl/grants/worktree/$1"
}

# Who moves a task's branch wrote the work, whatever the records say: the signs of agents in git's own environment, each
# set of them once, beside the name of the task.
note_mover() {
	mover=
	for sign in CODEX_SESSION_ID CODEX_THREAD_ID CODEX_TOOL_CALL_ID CODEX_SANDBOX CODEX_CI COPILOT_CLI COPILOT_AGENT_SESSION_ID \
		COPILOT_CLI_BINARY_VERSION GEMINI_CLI OPENCODE OPENCODE_PID OPENCODE_SESSION_ID CURSOR_AGENT CURSOR_TRACE_ID CLAUDECODE \
		CLAUDE_CODE_SESSION_ID CLAUDE_CODE_ENTRYPOINT PAWL_RUN PAWL_AGENT PAWL_SESSION AI_AGENT; do
		eval "value=\${$sign-}"
		case $value in '') continue ;; *[!A-Za-z0-9._:/-]*) value=other ;; esac
		# These change with every call of the same agent.
		case $sign in CODEX_TOOL_CALL_ID | OPENCODE_PID) value=1 ;; esac
		mover="$mover$sign=$value "
	done
	[ -n "$mover" ] && in_task || return 0
	mover=${mover% }
	if [ -f "$own/pawl-authors" ]; then
		while read -r known; do [ "$known" = "$mover" ] && return 0; done <"$own/pawl-authors"
	fi
	printf '%s\n' "$mover" >>"$own/pawl-authors"
}

# Whether another session of an agent holds this worktree's task, in $holder, while the one that moves its branch holds
# a task of its own. Humans hold nothing here, and neither does an agent that names no sessions.
in_others_task() {
	[ -f "$own/pawl-holder" ] || return 1
	for me in "${CODEX_SESSION_ID-}" "${CODEX_THREAD_ID-}" "${COPILOT_AGENT_SESSION_ID-}" "${OPENCODE_SESSION_ID-}" \
		"${CLAUDE_CODE_SESSION_ID-}" "${PAWL_SESSION-}"; do [ -z "$me" ] || break; done
	[ -n "$me" ] && read -r holder <"$own/pawl-holder" || return 1
	case $holder in *:"$me") return 1 ;; esac
	for known in "$home"/worktrees/*/pawl-holder; do
		[ -f "$known" ] && read -r other <"$known" || continue
		case $other in *:"$me") return 0 ;; esac
	done
	return 1
}

in_task() { [ -f "$own/pawl-task" ]; }

# Why a protected branch may go from $1 to $2, in $why.
explain() {
	why=approved
	granted "$1" "$2" "$3" && return
	why=unlocked
	unlocked "$3" && return
	case $2 in *[!0]*) ;; *) return 1 ;; esac
	why=remote
	from_remote "$3" "$1" "$2" && return
	# The first commit of an empty repository: the branch never was, and no remote has another idea of it.
	why=created
	case $1 in *[!0]*) return 1 ;; esac
	[ -z "$tracked" ] && [ -d "$home/pawl/tips" ] && ! in_task || return 1
	[ ! -f "$tip_file" ] || already_told "$1" "$2" "$3" || return 1
	began_protected "$2" "$3"
}

# Whether a new branch begins with a commit that another protected one has been at, which is more than to have merged it;
# in an empty repository there is none.
began_protected() {
	other=
	for known in "$home"/pawl/tips/*; do
		[ -f "$known" ] && [ "$known" != "$tip_file" ] || continue
		read -r was name rest <"$known"
		case $was in *[!0]*) ;; *) continue ;; esac
		other=${name#refs/heads/}
		git rev-list --first-parent "$was" --not "$1^@" 2>/dev/null | grep -qx "$1" && return
	done
	[ -n "$other" ] || return 0
	WAY="Start a new protected branch from one that exists: git branch ${2#refs/heads/} $other"
	return 1
}

# Newer versions of git ask twice about the same change, once from the folder and once from the configuration.
already_told() {
	[ -f "$tip_file" ] && read -r was name allowed rest <"$tip_file" && [ "$was $name $allowed" = "$1 $3 $2" ]
}

# A revert has changed files and index by now, began with nothing staged, and knows no way back of its own.
say_leftover() {
	[ -f "$own/MERGE_MSG" ] && read -r said <"$own/MERGE_MSG" || return 0
	case $said in 'Revert "'* | 'Reapply "'*) printf 'pawl: %s\n' "To discard what the revert staged: git reset --merge" >&2 ;; esac
}

# A plain commit leaves everything where it was, for a task to take along. It is new, so no ref has it, and it follows
# what is checked out here; what a revert, a cherry-pick, a merge or an am has begun, they have to end themselves.
say_rescue() {
	read_head
	[ "$head" = "$3" ] && [ ! -f "$own/MERGE_MSG" ] && [ ! -d "$own/rebase-apply" ] || return 0
	[ "$(git rev-parse -q --verify "$2^1" 2>/dev/null)" = "$1" ] || return 0
	[ -z "$(git rev-list -1 "$2" --not --all 2>/dev/null)" ] || WAY=$RESCUE
}

judge_protected() {
	moves "$1" "$2" "$3" || return 0
	branch=${3#refs/heads/}
	case $2 in ref:*) refuse "refused: $branch is protected and cannot become an alias of another branch." "$WAY" ;; esac
	name_tip "${3#refs/heads/}"
	if explain "$old" "$2" "$3"; then
		[ -d "$home/pawl/tips" ] && ! already_told "$old" "$2" "$3" || return 0
		printf '%s %s %s %s\n' "$old" "$3" "$2" "$why" >"$tip_file"
		return 0
	fi
	say_unlock "$3"
	case $2 in
	*[!0]*)
		say_rescue "$old" "$2" "$3"
		say_way "$3" "$2"
		say_leftover
		refuse "refused: $branch is protected, and nobody has approved this change." "$WAY"
		;;
	*) refuse "refused: $branch is protected and cannot be deleted or renamed." "$WAY" ;;
	esac
}

judge_branch() {
	read_binding "$3"
	if [ -z "$bound" ]; then
		in_task && moves "$1" "$2" "$3" && ! granted "$old" "$2" "$3" || return 0
		read -r task <"$own/pawl-task"
		# What is committed on a branch of its own would be in no snapshot, review or merge of the task.
		case $old in
		*[!0]*) refuse "refused: this worktree belongs to $task and cannot change another branch, such as ${3#refs/heads/}." "$OTHER" ;;
		*) refuse "refused: this worktree belongs to $task and stays on its branch; ${3#refs/heads/} would be outside the task." \
			"To remember a commit: git tag <name>. $OTHER" ;;
		esac
	fi
	moves "$1" "$2" "$3" || return 0
	granted "$old" "$2" "$3" && return 0
	case $2 in
	*[!0]*) ;;
	*) refuse "refused: ${3#refs/heads/} belongs to a task and cannot be deleted or renamed." \
		"To end the task: pawl finish" ;;
	esac
	[ "$bound" = "$site" ] || refuse "refused: ${3#refs/heads/} belongs to a task and can be changed only in that task's worktree." \
		"To see where that is: pawl session"
	if in_others_task; then
		read -r task <"$own/pawl-task"
		refuse "refused: ${3#refs/heads/} belongs to $task, which $holder holds, and your session holds another task." \
			"If nobody is working on it, take it over: pawl start $task --claim"
	fi
	note_mover
}

# A name that stands for another branch must not hide a protected one or a task's.
judge_alias() {
	aim=${2#ref:}
	protected "$aim" && refuse "refused: ${3#refs/heads/} would be an alias of ${aim#refs/heads/}, which is protected." "$WAY"
	read_binding "$aim"
	[ -z "$bound" ] || refuse "refused: ${3#refs/heads/} would be an alias of ${aim#refs/heads/}, which belongs to a task."
}

# Git 2.46 and later tell where HEAD will point.
judge_head() {
	in_task || return 0
	read_binding "${1#ref:}"
	[ "$bound" = "$site" ] && return
	read -r task <"$own/pawl-task"
	refuse "refused: this worktree belongs to $task and stays on its branch." "$OTHER"
}

# A merge says where it came from before it touches any file: refused now, it leaves everything as it was. What ends
# where the remote is, or changes nothing, goes on.
judge_merge() {
	case ${GIT_REFLOG_ACTION-} in
	"merge "*) what=${GIT_REFLOG_ACTION#merge } ;;
	pull*) what=FETCH_HEAD ;;
	*) return ;;
	esac
	read_head
	protected "$head" || return 0
	[ -f "$home/pawl/grants/update/$head" ] && return
	look_up "$head"
	new=$(git rev-parse -q --verify "$what^{commit}" 2>/dev/null) || new=
	if [ -n "$new" ]; then
		git merge-base --is-ancestor "$new" "$tip" && return
		from_remote "$head" "$tip" "$new" && return
	fi
	unlocked "$head" && return
	[ -z "$new" ] || say_way "$head" "$new"
	say_unlock "$head"
	refuse "refused: ${head#refs/heads/} is protected; merging into it needs an approval." "$WAY"
}

# The names of the tables that hold all refs, in $tables; whatever changes a ref changes one of them.
list_tables() {
	tables=
	while read -r table; do tables="$tables$table "; done <"$home/reftable/tables.list"
	tables=${tables% }
}

if [ "$1" = committed ]; then
	if [ -f "$home/reftable/tables.list" ] && [ -d "$home/pawl/tips" ]; then
		list_tables
		printf '%s\n' "$tables" >"$home/pawl/tables"
	fi
	# What was allowed has come about: from now on it is the only value that the branch may be found at.
	while read -r before after ref; do
		case $ref in refs/heads/*) protected "$ref" || continue ;; *) continue ;; esac
		name_tip "${ref#refs/heads/}"
		[ -f "$tip_file" ] || continue
		read -r was name allowed why <"$tip_file"
		[ "$allowed" = "$after" ] && [ "$was" != "$after" ] || continue
		printf '%s %s %s %s\n' "$was" "$after" "$ref" "$why" >>"$home/pawl/moves"
		printf '%s %s %s\n' "$after" "$ref" "$after" >"$tip_file"
	done
	exit 0
fi

# The tripwire: a protected branch that is elsewhere than where it was last seen moved behind our back. Refs in tables are
# asked for only when the tables are others than after the last change that we saw.
tables_changed() {
	[ -f "$home/reftable/tables.list" ] || return 0
	list_tables
	seen=
	[ -f "$home/pawl/tables" ] && read -r seen <"$home/pawl/tables"
	[ "$seen" != "$tables" ]
}
for tip_file in "$home"/pawl/tips/*; do
	[ -f "$tip_file" ] || continue
	read -r was ref allowed rest <"$tip_file"
	if [ -f "$home/$ref" ]; then
		read -r tip rest <"$home/$ref"
	elif [ -d "$home/reftable" ] && tables_changed; then
		look_up "$ref"
		[ -n "$tip" ] || continue
	else
		continue
	fi
	[ "$tip" = "$was" ] || [ "$tip" = "$allowed" ] && continue
	mark=$home/pawl/tripped/${tip_file##*/} told=
	[ -f "$mark" ] && read -r told rest <"$mark"
	[ "$told" = "$tip" ] && continue
	printf '%s %s %s\n' "$tip" "$was" "$ref" >"$mark"
	printf 'pawl: warning: %s\n' "${ref#refs/heads/} is protected, but it moved while the guard was switched off." \
		"See what came in before you continue: pawl audit" >&2
done

while read -r before after ref; do
	case $ref in
	main-worktree/refs/*) ref=${ref#main-worktree/} ;;
	worktrees/*/refs/*) ref=${ref#worktrees/*/} ;;
	esac
	case $ref in
	refs/heads/*)
		if protected "$ref"; then
			judge_protected "$before" "$after" "$ref"
		else
			case $after in ref:*) judge_alias "$before" "$after" "$ref" ;; esac
			judge_branch "$before" "$after" "$ref"
		fi
		;;
	refs/replace/*)
		moves "$before" "$after" "$ref" && ! granted "$old" "$after" "$ref" &&
			refuse "refused: replacing ${ref#refs/replace/} would show content that nobody approved." \
				"Change it with an ordinary commit: pawl start"
		;;
	ORIG_HEAD) judge_merge ;;
	# A question of pawl doctor, which never means to make this ref: whether git asks here at all.
	refs/pawl-probe) refuse "the guard is active." ;;
	HEAD) case $after in ref:refs/heads/*) judge_head "$after" ;; esac ;;
	esac
done
exit 0
