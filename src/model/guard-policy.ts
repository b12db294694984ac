import type { Config, FormatCheck } from "./config.ts";
import { protectedPatterns } from "./protection.ts";

/** What hooks are made from. */
export interface GuardPolicy {
  /** Patterns of protected branches. */
  protected: string[];
  /** What a commit's files have to pass. */
  format: FormatCheck[];
}

/** As for protected branches: what the protected tip has is in force, and a copy in a worktree can only add to it. */
export function guardPolicy(
  committed: Config | undefined,
  copies: readonly Config[],
  defaultBranch: string | undefined,
): GuardPolicy {
  const checks = [committed, ...copies].flatMap((one) => one?.format ?? []);
  return {
    protected: protectedPatterns(committed, copies, defaultBranch),
    format: distinct(checks, JSON.stringify),
  };
}

/** Everything that either of them asks for. */
export function strictest(one: GuardPolicy, other: GuardPolicy): GuardPolicy {
  return {
    protected: distinct([...one.protected, ...other.protected], String),
    format: distinct([...one.format, ...other.format], JSON.stringify),
  };
}

/** What the first asks for and the second does not. */
export function missingFrom(one: GuardPolicy, other: GuardPolicy): string[] {
  const there = new Set(demands(other));
  return demands(one).filter((demand) => !there.has(demand));
}

function demands({ protected: patterns, format }: GuardPolicy): string[] {
  const checks = format.map(
    ({ files, command }) => `the format check "${command}"${files && ` of ${files}`}`,
  );
  return [...patterns, ...checks];
}

const FORMAT = "format ";

/** One demand in each line. No branch has a space in its name. */
export function printPolicy({ protected: patterns, format }: GuardPolicy): string {
  const lines = [...patterns, ...format.map((one) => FORMAT + JSON.stringify([one.files, one.command]))];
  return lines.map((line) => `${line}\n`).join("");
}

export function readPolicy(text: string): GuardPolicy {
  const lines = text.split("\n").filter((line) => line !== "");
  return {
    protected: lines.filter((line) => !line.startsWith(FORMAT)),
    format: lines.filter((line) => line.startsWith(FORMAT)).flatMap((line) => readCheck(line)),
  };
}

function readCheck(line: string): FormatCheck[] {
  try {
    const [files, command]: unknown[] = JSON.parse(line.slice(FORMAT.length));
    return typeof files === "string" && typeof command === "string" ? [{ files, command }] : [];
  } catch {
    return [];
  }
}

function distinct<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}

/** What most diagnoses name as their command. */
export const REPAIR = "pawl doctor --fix";

export const unguarded = (what: string, command = "pawl doctor") =>
  `This repository is not guarded properly. ${what} To look into it: ${command}`;
