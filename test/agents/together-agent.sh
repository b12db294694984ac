# Every agent of test/agents/together.test.ts: an author, a reviewer, a fixer or a manager, as its packet says. What it
# has done it says in a ledger of its own, which is compared with git and with the records in the end.
prompt=$(cat)
ledger="$(git rev-parse --path-format=absolute --git-common-dir)/together"
say() { echo "$*" >> "$ledger"; }
pawl() { node "$PAWL" "$@" < /dev/null; }
# A line of JavaScript about what a command has answered.
of() { node -e 'const { data } = JSON.parse(require("fs").readFileSync(0)); '"$1"; }

hold_worktree() {
  busy="$(git rev-parse --git-dir)/busy"
  [ -f "$busy" ] && grep -qz PAWL_ATTEMPT= "/proc/$(cat "$busy")/environ" 2>/dev/null && say "COLLISION $PAWL_TASK $PAWL_RUN"
  echo $$ > "$busy"
}
work() {
  for nth in 1 2; do
    echo "$1 $nth" >> "$PAWL_TASK.txt"
    git add -A && git commit -qm "$PAWL_TASK $1 $nth" && say "commit $PAWL_TASK $(git rev-parse HEAD)"
    pawl decide "Choice $nth of $PAWL_RUN by $$" --why "asked to" && say "decision $PAWL_TASK $nth of $PAWL_RUN by $$"
    sleep 0.3
  done
}
hand_over() {
  pawl verify && say "evidence $PAWL_TASK"
  pawl handoff --what "$1" --next "look at it" && say "handoff $PAWL_TASK"
}
write_to_manager() {
  id=$(pawl mail send manager "Half of it is done" --json | of 'console.log(data.message.id)') && say "mail $PAWL_TASK $id"
}

settle() {
  pawl run settle "$1" "$2" "As its report says" && say "settlement $PAWL_TASK $1 $2"
}
# The parts without a run are started, within what the envelope allows; fails while one is left.
start_parts() {
  started=0
  for nth in 1 2 3; do
    title="Part $nth of $PAWL_TASK"
    pawl task list --json | of "console.log(data.tasks.find((one) => one.title === '$title')?.id ?? '')" > "$part" || return 1
    id=$(cat "$part")
    if [ -z "$id" ]; then
      id=$(pawl task new "$title" --json | of 'console.log(data.task.id)') || return 1
    fi
    agent=writer; [ $nth = 3 ] && agent=broken
    if pawl run list "$id" --json | of 'process.exitCode = data.runs.some((one) => one.state !== "held") ? 0 : 1'; then
      started=$((started + 1))
    else
      run=$(pawl run "$id" --agent $agent --time 3m --json | of 'console.log(data.runs[0].id)') && say "child $PAWL_TASK $run"
    fi
  done
  [ $started = 3 ]
}
# Whatever keeps it from ending, the gate names; killed anywhere, its next life goes on from there.
manage() {
  part=$(mktemp) reasons=$(mktemp)
  pawl task update "$PAWL_TASK" --plan "Three parts, two at a time; the third is hopeless at first" || return
  for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    all=no; start_parts && all=yes
    pawl check "$PAWL_TASK" --stage manage --json |
      of 'for (const one of data.check.reasons) console.log(one.code, one.record, one.command)' > "$reasons" || continue
    [ $all = yes ] && [ ! -s "$reasons" ] && break
    while read -r code record command; do
      case "$code $command" in
        child_running*) pawl run wait "$record" --for 5s ;;
        child_outcome_unread*) pawl mail ack "${command##* }" ;;
        "child_not_settled pawl run resume "*)
          pawl run resume "$record" --agent writer --json | grep -q envelope_spent && settle "$record" abandon ;;
        child_not_settled*) settle "$record" accept || settle "$record" retry ;;
        no_handoff*)
          [ $all = yes ] && [ "$(wc -l < "$reasons")" = 1 ] &&
            pawl handoff "$PAWL_TASK" --what "All is settled" --next "approve it" && say "handoff $PAWL_TASK" ;;
      esac
    done < "$reasons"
  done
  rm -f "$part" "$reasons"
}

case "$prompt" in
  "You manage "*) manage; exit ;;
esac
hold_worktree
case "$prompt" in
  "You are the author of "*)
    echo bug > "$PAWL_TASK.bug"
    case "$prompt" in *" of T"[0-9]*) write_to_manager ;; esac
    work author; hand_over written ;;
  "You review "*)
    verdict=pass
    if [ -s "$PAWL_TASK.bug" ]; then
      verdict=fail
      pawl finding add "A bug" --severity high --kind branch --file "$PAWL_TASK.bug" --line 1 && say "finding $PAWL_TASK"
    fi
    pawl review record --kind branch --verdict $verdict --looked-at "$PAWL_TASK.txt" && say "review $PAWL_TASK" ;;
  "You fix "*)
    : > "$PAWL_TASK.bug"; work fixer
    for id in $(pawl finding list --status open --json | of 'for (const one of data.findings) console.log(one.id)'); do
      pawl finding resolve "$id"
    done
    hand_over fixed ;;
esac
rm -f "$busy"
