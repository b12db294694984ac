/** What reading gives. YAML never guesses a type: every scalar is its text, and an empty value is "". */
export type HeaderValue = string | HeaderValue[] | { [key: string]: HeaderValue };

export type PrintableValue = string | number | boolean | PrintableValue[] | { [key: string]: PrintableValue };

/** `line` counts from 1 in the whole file: the opening fence is line 1, the first header line is line 2. */
export class FrontMatterError extends Error {
  override readonly name = "FrontMatterError";
  readonly line: number;
  readonly problem: string;

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.line = line;
    this.problem = problem;
  }
}

/** Whether printing `next` and reading it again would give `current`; the order of map keys does not matter. */
export function readsAs(next: PrintableValue, current: HeaderValue): boolean {
  if (typeof next !== "object") return String(next) === current;
  if (Array.isArray(next)) {
    if (!Array.isArray(current) || current.length !== next.length) return false;
    return next.every((item, index) => readsAs(item, current[index] as HeaderValue));
  }
  if (typeof current === "string" || Array.isArray(current)) return false;
  const keys = Object.keys(next);
  if (keys.length !== Object.keys(current).length) return false;
  return keys.every(
    (key) => Object.hasOwn(current, key) && readsAs(next[key] as PrintableValue, current[key] as HeaderValue),
  );
}
