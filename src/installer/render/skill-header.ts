import matter from "gray-matter";
import {
  editHeader,
  FrontMatterError,
  type HeaderValue,
  type KeyPlace,
  locateKeys,
  splitFrontMatter,
} from "../../model/markdown/front-matter.ts";
import { fullYaml } from "../../model/markdown/full-yaml.ts";

/** A skill or an override: its header as it is written and as it is read, and what follows. */
export interface SkillText {
  lines: string[];
  values: Readonly<Record<string, HeaderValue>>;
  /** Where the keys stand, each on lines of its own: no other header can be written without some of its keys. */
  places: readonly KeyPlace[];
  body: string;
}

const FENCE = "---";

const refuse = () => {
  throw new Error("only YAML is read here");
};

/**
 * Always passed: without options gray-matter answers from its memory, where a broken header reads as an empty one. By
 * itself it knows other languages and runs one of them as code; ours is the only one here, and every scalar stays text.
 */
const OPTIONS = {
  language: "yaml",
  engines: {
    yaml: (header: string) => Object.fromEntries(fullYaml.read(header)),
    json: refuse,
    javascript: refuse,
  },
};

/** Undefined where the text does not begin with a header that is closed and readable; `explain` is told why. */
export function readSkill(text: string, explain: (why: string) => void = () => {}): SkillText | undefined {
  try {
    // Refuses fences that are not exactly three dashes, and headers that no fence closes, which gray-matter reads to the end.
    splitFrontMatter(text);
    const { matter: header, data, content } = matter(text, OPTIONS);
    const lines = header.split("\n").slice(1);
    const written = ended(lines);
    const places = locateKeys(written) ?? fullYaml.locateKeys(written);
    return { lines, values: data, places, body: content };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    explain(error instanceof FrontMatterError ? error.problem : (error.message.split("\n")[0] ?? ""));
    return undefined;
  }
}

export function printSkill({ lines, body }: Pick<SkillText, "lines" | "body">): string {
  return [FENCE, ...lines, FENCE, body].join("\n");
}

/** The text of a key; undefined where it is absent, or is a list or a map. */
export function textOf({ values }: SkillText, key: string): string | undefined {
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  return typeof value === "string" ? value.trim() : undefined;
}

/** Without the lines of these keys, however they are written. */
export function withoutKeys({ lines, values, places }: SkillText, keys: readonly string[]): string[] {
  const changes = keys.map((key) => [key, undefined] as const);
  const left = editHeader(ended(lines), changes, new Map(Object.entries(values)), places, "\n");
  // What was between a key that went and an edge of the header belongs to nothing, and a tab there would be no YAML.
  return left
    .replace(/^\s*\n/, "")
    .trimEnd()
    .split("\n");
}

const ended = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
