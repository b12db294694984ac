import { Failure } from "./failure.ts";

/**
 * Patterns of paths in a repository: `*` within a name, `**` for any folders in between. A pattern without them means a
 * file, or a folder with everything below it.
 */
type Segments = readonly string[];

const ANY = "**";

function segmentsOf(pattern: string): Segments {
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  return parts.at(-1)?.includes("*") ? parts : [...parts, ANY];
}

/** Whether some path could match both: an overlap that cannot be ruled out counts as one. */
export const overlaps = (one: string, other: string): boolean => meet(segmentsOf(one), segmentsOf(other));

export const matches = (path: string, pattern: string): boolean => meet(path.split("/"), segmentsOf(pattern));

function meet(one: Segments, other: Segments): boolean {
  const [first, ...rest] = one;
  const [second, ...others] = other;
  if (first === ANY) return meet(rest, other) || (second !== undefined && meet(one, others));
  if (second === ANY) return meet(one, others) || (first !== undefined && meet(rest, other));
  if (first === undefined || second === undefined) return first === second;
  return meetNames(first, second) && meet(rest, others);
}

function meetNames(one: string, other: string): boolean {
  if (one.includes("*") && other.includes("*")) {
    const [start, end] = [one.split("*")[0] ?? "", one.split("*").at(-1) ?? ""];
    const [begin, finish] = [other.split("*")[0] ?? "", other.split("*").at(-1) ?? ""];
    return (
      (start.startsWith(begin) || begin.startsWith(start)) && (end.endsWith(finish) || finish.endsWith(end))
    );
  }
  const [pattern, name] = one.includes("*") ? [one, other] : [other, one];
  const words = pattern.split("*").map((word) => word.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${words.join(".*")}$`).test(name);
}

/** Refuses what could never be a path of the repository. */
export function checkPattern(pattern: string): void {
  const isWithin = !pattern.startsWith("/") && !pattern.split("/").includes("..") && !/[\\\0]/.test(pattern);
  if (isWithin && segmentsOf(pattern).length > 0 && pattern !== "") return;
  throw new Failure("usage", "bad_path", `"${pattern.slice(0, 80)}" is not a path below the repository.`, {
    hint: "Write it from the top of the repository, such as src/api or 'src/**/*.ts'.",
    details: { field: "path" },
  });
}
