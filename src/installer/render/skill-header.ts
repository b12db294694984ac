import matter from "gray-matter";
import { FrontMatterError, type HeaderValue, splitFrontMatter } from "../../model/markdown/front-matter.ts";
import { fullYaml } from "../../model/markdown/full-yaml.ts";

/** A skill or an override: its header as it is written and as it is read, and what follows. */
export interface SkillText {
  lines: string[];
  values: Readonly<Record<string, HeaderValue>>;
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
    return { lines: header.split("\n").slice(1), values: data, body: content };
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

/** Without the lines of these keys, and those below that belong to them. */
export function withoutKeys(lines: readonly string[], keys: readonly string[]): string[] {
  let dropping = false;
  return lines.filter((line) => {
    const key = /^(["']?)([\w-]+)\1:(?: |$)/.exec(line)?.[2];
    const continues = key === undefined && /^(?:\s|- |$)/.test(line);
    if (!continues) dropping = key !== undefined && keys.includes(key);
    return !dropping;
  });
}
