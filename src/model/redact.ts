/** Folders whose content may be told, with the name under which it is; everything else that is absolute is only `<path>`. */
export interface Known {
  folders: readonly { path: string; name: string }[];
}

/*
 * A log may be one line of a hundred thousand characters. So whatever looks ahead through a word begins only where a
 * word does, and looks once: from every character of it, that line would take minutes.
 */

/** First of all: an address may hold a path, a name and a password. */
const ADDRESSES: readonly [RegExp, string][] = [
  [/(?<![\w+.-])[\w+.-]+:\/\/[^\s"'<>`]+/g, "<url>"],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*:[^\s"'<>`]+/g, "<url>"],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, "<email>"],
];

/** By the name before it, by how tokens begin, and at last by what only chance writes. */
const SECRETS: readonly [RegExp, string][] = [
  [/\b(bearer|basic)\s+[^\s"'<>`]{6,}/gi, "$1 <secret>"],
  [
    /(?<![\w.-])(?=[\w.-]+["']?\s*[=:])([\w.-]*(?:token|secret|passw(?:or)?d|passwd|pwd|api[_-]?key|credential|authorization)[\w.-]*)(["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|[^\s"'<>`]+)/gi,
    "$1$2<secret>",
  ],
  [/\b(?:gh[pousr]|github_pat|glpat|npm|sk|pk|rk|xox[a-z]|pypi|hf|dop_v1|shpat)[_-][\w-]{6,}/gi, "<secret>"],
  [/\b(?:AKIA|ASIA|AIza)[\w-]{12,}/g, "<secret>"],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, "<secret>"],
  [/\b[0-9a-f]{32,}\b/gi, "<hex>"],
  [/(?<![\w+/=])(?=[\w+/=]*\d)(?=[\w+/=]*[a-z])(?=[\w+/=]*[A-Z])[\w+/=]{24,}/g, "<secret>"],
  [/(?<![\w+/=-])(?=(?:[\w+/=-]*?\d){4})(?=(?:[\w+/=-]*?[A-Z]){4})[\w+/=-]{32,}/g, "<secret>"],
];

/** An absolute path of any system. Its folders may have spaces: words go with it as long as a slash follows soon. */
const ABSOLUTE =
  /(?<![\w.~<>/\\-])(?:[A-Za-z]:[\\/]|\\\\|~[\\/]|\/)[^\s"'`<>|:]*(?: (?:[^\s"'`<>|:\\/]+ ){0,3}[^\s"'`<>|:]*[\\/][^\s"'`<>|:]*)*/g;

/** Where a folder's name ends: "my shop" is not the beginning of "my shop two/x". */
const ENDS = `(?=$|[\\\\/"'\`:;,.)]|\\s(?!\\S*[\\\\/]))`;

/** A text that can be shown to anybody: no secrets, no addresses, no paths but those inside the known folders. */
export function redact(text: string, known: Known): string {
  let shown = text;
  const folders = known.folders.filter(({ path }) => path.length > 1);
  for (const { path, name } of folders.toSorted((a, b) => b.path.length - a.path.length))
    shown = shown.replace(new RegExp(`${escaped(path)}${ENDS}`, "g"), `<${name}>`);
  for (const [pattern, name] of ADDRESSES) shown = shown.replace(pattern, name);
  shown = shown.replace(ABSOLUTE, (found) => (found.length > 1 ? "<path>" : found));
  for (const [pattern, name] of SECRETS) shown = shown.replace(pattern, name);
  return shown;
}

/** One value that is a path, or may be: spaces belong to it. */
export function redactPath(path: string, known: Known): string {
  const shown = redact(path, known);
  return shown.startsWith("<path>") ? "<path>" : shown;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
