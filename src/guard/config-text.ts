import fromConfig from "../../hooks/from-config.sh";
import { type ConfigEntry, readConfig } from "../git/config-file.ts";

/**
 * Our part of a repository's configuration, as text: git itself would move comments and line ends about, and what we take
 * out again must leave every byte as it was. Pure.
 */
export interface OwnSettings {
  /** Our folder is the plain value of `core.hooksPath`. */
  local: boolean;
  /** Each worktree has a value of its own, which wins whatever another program writes into the plain one. */
  perWorktree: boolean;
  /** Somebody relies on worktrees having settings of their own: we, or whoever came after us. */
  extension: boolean;
  /** Git runs the guard from its configuration as well. */
  hook: boolean;
}

export const NOTHING_OF_OURS: OwnSettings = {
  local: false,
  perWorktree: false,
  extension: false,
  hook: false,
};

/** What of the configuration was not ours, and has to come back. */
export interface Displaced {
  /** The user's own line that ours stands in for, with its end. */
  line: string | null;
  /** How many line ends we had to add to its last line. */
  addedEnds: number;
  /** We switched `extensions.worktreeConfig` on. */
  extension: boolean;
}

/** In this form git itself never writes it, so that ours is recognised, also in a repository that was moved. */
const ownLine = (dir: string) => `\thooksPath = "${dir.replaceAll("\\", "/").replace(/["\\]/g, "\\$&")}"\n`;
const OWN_LINE = /^\thooksPath = "[^\n]*\/pawl\/hooks"\n?$/;

const EXTENSION = { header: "[extensions]\n", body: "\tworktreeConfig = true\n" };

/**
 * The guard as git starts it from the configuration: found from git's own environment, as the hooks do it, so that it holds
 * in a repository that was moved; the copy beside git's own hooks steps in when ours are gone. Git appends the arguments.
 */
const COMMAND = fromConfig.trim().split("\n").join(" ");
const HOOK = {
  header: '[hook "pawl"]\n',
  body: `\tevent = reference-transaction\n\tcommand = "${COMMAND.replace(/["\\]/g, "\\$&")}"\n`,
};

/** What versions before 0.2 wrote. Newer versions of Claude Code take a condition for a reason not to work here at all. */
const OLD_SECTIONS = /^\[includeIf "gitdir:[^\n]*"\]\n\tpath = pawl\/hooks\.config\n/gm;

/** Nobody has written after us. */
const OURS_IS_LAST =
  /\t(?:hooksPath = "[^\n]*\/pawl\/hooks"|worktreeConfig = true|command = "pawl\(\)[^\n]*|path = pawl\/hooks\.config)\n$/;

/** From its header to its last entry: whatever somebody has put into a section of this name is about our hook, and goes with it. */
function hookSections(text: string): [start: number, end: number][] {
  const ends = new Map<number, number>();
  for (const { section, header, end } of readConfig(text)) if (section === "hook pawl") ends.set(header, end);
  return [...ends];
}

export const hasHook = (text: string) => hookSections(text).length > 0;
const hookText = (text: string) =>
  hookSections(text)
    .map(([start, end]) => text.slice(start, end))
    .join("");
const withoutHook = (text: string) =>
  hookSections(text).reduceRight((rest, [start, end]) => rest.slice(0, start) + rest.slice(end), text);

const hooksPaths = (text: string) =>
  readConfig(text).filter((one) => one.section === "core" && one.key === "hookspath");
const isOwn = (text: string, { start, end }: ConfigEntry) => OWN_LINE.test(text.slice(start, end));

/** The user's own line, if there is exactly one and we may stand in for it. */
export function foreignLine(text: string): string | undefined {
  const [only, ...others] = hooksPaths(text);
  if (only === undefined || others.length > 0 || !only.alone || isOwn(text, only)) return undefined;
  return ended(text.slice(only.start, only.end));
}

/** Something of others says where hooks are, in this very file. */
export const hasForeignPath = (text: string) => hooksPaths(text).some((one) => !isOwn(text, one));

export const switchesWorktreesOn = (text: string) =>
  readConfig(text).some((one) => one.section === "extensions" && one.key === "worktreeconfig");

/** The configuration with exactly this much of ours in it. */
export function withOurs(text: string, dir: string, own: OwnSettings, displaced: Displaced): string {
  let now = text.replace(OLD_SECTIONS, "");
  now = own.local ? setPath(now, dir) : dropPath(now, displaced.line);
  if (!own.extension && displaced.extension) now = drop(now, EXTENSION);
  if (hookText(now) !== (own.hook ? HOOK.header + HOOK.body : "")) now = withoutHook(now);
  if (OURS_IS_LAST.test(text) && !OURS_IS_LAST.test(now))
    for (let ends = displaced.addedEnds; ends > 0; ends--) now = now.replace(/\n$/, "");
  if (own.extension && !switchesWorktreesOn(now)) now = append(now, EXTENSION);
  return own.hook && !hasHook(now) ? append(now, HOOK) : now;
}

/** A worktree's own file: our value, unless it has one already. */
export function withOwnValue(text: string, dir: string): string {
  const bare = withoutOwnValue(text);
  return hasForeignPath(bare) ? bare : append(bare, { header: "[core]\n", body: ownLine(dir) });
}

export function withoutOwnValue(text: string): string {
  const own = hooksPaths(text).find((one) => isOwn(text, one));
  return own === undefined ? text : drop(text, { header: "[core]\n", body: text.slice(own.start, own.end) });
}

function setPath(text: string, dir: string): string {
  const [only, ...others] = hooksPaths(text);
  if (others.length > 0 || only?.alone === false) return text;
  if (only) return `${text.slice(0, only.start)}${ownLine(dir)}${text.slice(only.end)}`;
  // Never into a section without entries: its header could not be told from one of ours.
  const at = readConfig(text).findLast((one) => one.section === "core")?.end;
  if (at === undefined) return append(text, { header: "[core]\n", body: ownLine(dir) });
  return `${ended(text.slice(0, at))}${ownLine(dir)}${text.slice(at)}`;
}

function dropPath(text: string, line: string | null): string {
  const own = hooksPaths(text).find((one) => isOwn(text, one));
  if (own === undefined) return text;
  if (line !== null) return `${text.slice(0, own.start)}${line}${text.slice(own.end)}`;
  const alone = drop(text, { header: "[core]\n", body: text.slice(own.start, own.end) });
  return alone === text ? `${text.slice(0, own.start)}${text.slice(own.end)}` : alone;
}

interface Piece {
  header: string;
  body: string;
}

/** How many line ends it lacks: what is added without them would become part of its last line, which may say that it goes on. */
export function missingEnds(text: string): number {
  if (text === "") return 0;
  if (!text.endsWith("\n")) return 1 + missingEnds(`${text}\n`);
  return readConfig(text).at(-1)?.open === true ? 1 : 0;
}

const ended = (text: string) => text + "\n".repeat(missingEnds(text));
const append = (text: string, { header, body }: Piece) => `${ended(text)}${header}${body}`;

/** The header stays where somebody has added an entry of their own after ours. */
function drop(text: string, { header, body }: Piece): string {
  const at = text.lastIndexOf(header + body);
  if (at < 0) return text;
  const rest = text.slice(at + header.length + body.length);
  const othersFollow = rest !== "" && !/^\s*(?:\[|$)/.test(rest);
  return `${text.slice(0, at)}${othersFollow ? header : ""}${rest}`;
}
