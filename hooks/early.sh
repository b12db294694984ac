# The guard would refuse this commit at its end, after everything that the project has to check: so it is said before. What
# is let through here is judged by the guard all the same.
read_head
if protected "$head" && ! unlocked "$head"; then
	look_up "$head"
	if [ -n "$tip" ]; then
		say_unlock "$head"
		refuse "refused: ${head#refs/heads/} is protected, and nobody has approved this change." "$RESCUE"
	fi
fi
