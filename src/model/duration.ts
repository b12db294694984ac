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
