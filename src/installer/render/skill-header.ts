/**
 * The header of a skill, line by line. Our own are one `key: "value"` per line; a user's may hold anything else, which is
 * passed on as it is.
 */
export interface SkillText {
  header: string[];
  body: string;
}

const FENCE = "---";

/** Undefined where the text does not begin with a closed header. */
export function splitSkill(text: string): SkillText | undefined {
  const lines = text.split("\n");
  const end = lines.indexOf(FENCE, 1);
  if (lines[0] !== FENCE || end < 0) return undefined;
  return { header: lines.slice(1, end), body: lines.slice(end + 1).join("\n") };
}

export function joinSkill({ header, body }: SkillText): string {
  return [FENCE, ...header, FENCE, body].join("\n");
}

const keyOf = (line: string): string | undefined => /^([\w-]+):(?: |$)/.exec(line)?.[1];

/** The value of a key that is on one line, without its quotes; undefined where it is absent. */
export function headerValue(header: readonly string[], key: string): string | undefined {
  const line = header.find((one) => keyOf(one) === key);
  if (line === undefined) return undefined;
  const value = line.slice(key.length + 1).trim();
  if (!/^"(?:[^"\\]|\\.)*"$/.test(value)) return value.replace(/^'(.*)'$/s, "$1");
  return JSON.parse(value) as string;
}

export function withoutKeys(header: readonly string[], keys: readonly string[]): string[] {
  return header.filter((line) => !keys.includes(keyOf(line) ?? ""));
}
