import { Failure } from "./failure.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** `90s`, `45m`, `2h` or `1h30m` as seconds. */
export function parseDuration(text: string, field: string): number {
  const parts = [...text.trim().matchAll(/(\d{1,6})([smh])/g)];
  const isWhole = parts.map(([part]) => part).join("") === text.trim() && parts.length > 0;
  if (!isWhole)
    throw new Failure("usage", "bad_duration", `"${text.slice(0, 40)}" is not a length of time.`, {
      hint: `Write --${field} 90s, --${field} 45m or --${field} 1h30m.`,
      details: { field },
    });
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ""] ?? 0), 0);
}

/** Seconds as people say them: `42s`, `12m`, `1h 05m`. */
export function showDuration(seconds: number): string {
  if (seconds < 100) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100
    ? `${minutes}m`
    : `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

const DAY = 86_400;

/** From one moment in UTC to a later one, both as records write them; undefined where one of them is none. */
export function secondsBetween(earlier: string, later: string): number | undefined {
  const [from, to] = [secondsOf(earlier), secondsOf(later)];
  return from === undefined || to === undefined ? undefined : to - from;
}

function secondsOf(moment: string): number | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)/.exec(moment)?.slice(1).map(Number);
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = found ?? [];
  if (!found) return undefined;
  // Counted from March on, the day that leap years add is the last one of its year.
  const [years, months] = month > 2 ? [year, month - 3] : [year - 1, month + 9];
  const leaps = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  const days = years * 365 + leaps + Math.floor((153 * months + 2) / 5) + day;
  return days * DAY + hours * 3_600 + minutes * 60 + seconds;
}
