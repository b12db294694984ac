/** What a proposal is made from: the top of the project's tree, read as text. */
export interface ProjectLook {
  /** Names at the top, folders included. */
  names: ReadonlySet<string>;
  read(path: string): string | undefined;
  list(folder: string): readonly string[];
}

/** One kind of project as a proposal sees it: what proves that the code works, and what has to be there first. */
export interface Proposed {
  /** The tool, which tells two checks of the same name apart. */
  tool: string;
  /** The file that says so. */
  from: string;
  checks: Record<string, string>;
  setup?: string;
  /** The project itself names these commands; a convention of its language is only a good guess. */
  explicit: boolean;
}

export const matchesName = (look: ProjectLook, pattern: RegExp): string | undefined =>
  [...look.names].find((name) => pattern.test(name));

/** Some of it may be undefined: a check that the project does not have. */
export function checksOf(found: Record<string, string | undefined>): Record<string, string> {
  const kept = Object.entries(found).filter((one): one is [string, string] => one[1] !== undefined);
  return Object.fromEntries(kept);
}

/** Understood as far as it is an object; a broken file proposes nothing. */
export function jsonObject(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

export const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};
