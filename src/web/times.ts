import { clock } from "../runtime/clock.ts";

export { clock };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in everyday words: `now`, `12 min`, `3 h`, `yesterday`; further back, the date. */
export function ago(iso: string, now: number): string {
  const past = now - Date.parse(iso);
  if (past < MINUTE) return "now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`;
  if (past < 12 * HOUR) return `${Math.floor(past / HOUR)} h`;
  if (past < 2 * DAY && new Date(iso).getDate() === new Date(now - DAY).getDate()) return "yesterday";
  return clock(iso).slice(0, past < DAY ? undefined : 10);
}

/** How long something took. */
export function took(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 100_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return `${Math.round(ms / MINUTE)} min`;
}

/** How long something has been going on, in seconds. */
export function lasted(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
