/** HTML that is safe to send: made by `html` and by nothing else. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | false | readonly Part[];

/** A template whose values are escaped, whoever wrote them, and show what cannot be seen. Lists are joined; undefined and false leave nothing. */
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

export const escapeText = (text: string) => text.replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);

/**
 * What a reader would not see, or would see in another place than it stands: control characters, marks that reorder
 * text, spaces without width. A reviewer who cannot see U+202E reviews something else.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that have to be shown
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\uffff]|\ud83a[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

/** Code as it is, with what cannot be seen shown by its number. */
export function visible(text: string): Html {
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
