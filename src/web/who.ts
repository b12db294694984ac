/** Whoever acted, as one would call them: `agent:codex:author-session` is codex, `human:Ada` is Ada. */
export const nameOf = (actor: string) => actor.split(":")[1] ?? actor;
