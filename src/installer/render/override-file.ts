import { Failure } from "../../model/failure.ts";
import { hasMarks } from "./merge.ts";
import { printSkill, readSkill, textOf, withoutKeys } from "./skill-header.ts";

const OVERRIDE_MODES = ["replace", "patch", "add", "disable"] as const;
type OverrideMode = (typeof OVERRIDE_MODES)[number];

/** A user's change of one skill, as `.pawl/overrides/skills/<name>/` holds it. */
export interface Override {
  name: string;
  mode: OverrideMode;
  /** The whole skill in the user's words; with `disable`, why it is not wanted. */
  text: string;
  /** The digest of the upstream text that it was made against; `add` has none. */
  upstream?: string | undefined;
  /** That text itself, kept so that a later change can be merged and shown. */
  base?: string | undefined;
}

const FOLDER = ".pawl/overrides/skills";
export const overridePath = (name: string) => `${FOLDER}/${name}/override.md`;
export const basePath = (name: string) => `${FOLDER}/${name}/upstream.md`;

const OUR_KEYS = ["mode", "upstream"];
const NAME = /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Both files as they were read, to what they mean; anything unclear is refused by name, never guessed. */
export function readOverride(name: string, file: string, base: string | undefined): Override {
  let why = "";
  const skill = readSkill(plain(file), (problem) => {
    why = problem;
  });
  if (!skill) throw broken(name, `its header cannot be read (${why.replace(/\.$/, "")})`);
  const mode = OVERRIDE_MODES.find((one) => one === textOf(skill, "mode"));
  if (!mode) throw broken(name, `"mode" must be one of ${OVERRIDE_MODES.join(", ")}`);
  if (!NAME.test(name)) throw broken(name, "its folder's name is not a valid name for a skill");
  const upstream = textOf(skill, "upstream");
  if (mode !== "add" && !/^sha256:[0-9a-f]{64}$/.test(upstream ?? ""))
    throw broken(name, '"upstream" must be the digest of the text it was based on');
  if (mode === "disable") return { name, mode, text: skill.body.trim(), upstream, base: kept(base) };
  if (textOf(skill, "name") !== name) throw broken(name, `"name" in its header must be "${name}"`);
  const description = textOf(skill, "description") ?? "";
  if (description === "" || description.length > 1024)
    throw broken(name, 'it needs a "description" of at most 1024 characters');
  const lines = withoutKeys(skill, OUR_KEYS);
  const text = printSkill({ lines, body: `${skill.body.trimEnd()}\n` });
  if (hasMarks(text)) throw broken(name, "it still has conflict markers");
  return mode === "add" ? { name, mode, text } : { name, mode, text, upstream, base: kept(base) };
}

/** The files of an override, by path. */
export function printOverride(override: Override): Map<string, string> {
  const { name, mode, text, upstream, base } = override;
  const ours = [`mode: "${mode}"`, ...(upstream === undefined ? [] : [`upstream: "${upstream}"`])];
  const skill = mode === "disable" ? undefined : readSkill(text);
  const why = text === "" ? "" : `\n${text}\n`;
  const file = printSkill(
    skill ? { lines: [...ours, ...skill.lines], body: skill.body } : { lines: ours, body: why },
  );
  const files = new Map([[overridePath(name), file]]);
  if (base !== undefined) files.set(basePath(name), base);
  return files;
}

/** Editors on other systems may have changed line ends; that is no change of the text. */
const plain = (text: string) => text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
const kept = (base: string | undefined) => (base === undefined ? undefined : plain(base));

function broken(name: string, why: string): Failure {
  const file = overridePath(name);
  return new Failure("unreadable", "broken_override", `${file} cannot be used: ${why}.`, {
    hint: "Repair the file by hand; docs/skills.md shows an example.",
    details: { file },
  });
}
