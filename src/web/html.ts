/** HTML that is safe to send: made by `html` and by nothing else. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | false | readonly Part[];

/** A template that escapes every value and makes invisible characters visible. Lists are joined; undefined and false become nothing. */
export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  let text = strings[0] ?? "";
  for (const [at, value] of values.entries()) text += shown(value) + (strings[at + 1] ?? "");
  return new Html(text);
}

function shown(value: Part): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(shown).join("");
  return escapeText(String(value).replace(UNSEEN, (one) => `[${numberOf(one)}]`));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escapeText = (text: string) => text.replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);

/**
 * What a reader would not see, or would see in another place than it stands: control characters, marks that reorder
 * text, characters without width. A reviewer who cannot see U+202E reviews something else. The mark that makes an emoji
 * of the character before it is the one that may stay.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that have to be shown
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u2800\ufff9-\uffff\ud800-\udfff]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Emoji})[\ufe0e\ufe0f]/gu;

/** True of most lines of code, which then need no closer look. */
const ALL_SEEN = /^[\t\n -~]*$/;

/** Code as it is, with what cannot be seen shown by its number. */
export function visible(text: string): Html {
  if (ALL_SEEN.test(text)) return new Html(escapeText(text));
  let out = "";
  let at = 0;
  for (const found of text.matchAll(UNSEEN)) {
    out += `${escapeText(text.slice(at, found.index))}<span class="unseen">${numberOf(found[0])}</span>`;
    at = found.index + found[0].length;
  }
  return new Html(out + escapeText(text.slice(at)));
}

const numberOf = (one: string) =>
  `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
