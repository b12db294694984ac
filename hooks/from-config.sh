pawl() {
d=${GIT_DIR:-.git};
if [ -f "$d/commondir" ]; then read -r c <"$d/commondir"; case $c in /* | ?:*) d=$c ;; *) d=$d/$c ;; esac; fi;
d=${GIT_COMMON_DIR:-$d};
for g in pawl/guard hooks/reference-transaction; do [ -x "$d/$g" ] && exec "$d/$g" "$@"; done;
echo "pawl: refused: the guard's files are gone. To restore them: pawl doctor --fix" >&2; exit 1; };
pawl
