import { Html, visible } from "./html.ts";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

const [ESC, BELL] = ["\u001b", "\u0007"];

/** Matches colours, which are kept, and every other escape: cursor moves, titles, queries to the terminal. */
const ESCAPES = new RegExp(
  `${ESC}(?:\\[([0-9;]*)m|\\[[0-9;?]*[ -/]*[@-~]|\\][^${BELL}${ESC}]*(?:${BELL}|${ESC}\\\\)?|[@-Z\\\\^_])`,
  "g",
);

/** One line of an agent's output as HTML: colours become classes, other escapes are dropped, invisible characters are shown. */
export function lineHtml(line: string): Html {
  let [out, at] = ["", 0];
  let classes: string[] = [];
  const add = (text: string) => {
    const shown = visible(text).text;
    out += classes.length > 0 && shown !== "" ? `<span class="${classes.join(" ")}">${shown}</span>` : shown;
  };
  for (const found of line.matchAll(ESCAPES)) {
    add(line.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[1] !== undefined) classes = painted(classes, found[1]);
  }
  add(line.slice(at));
  return new Html(out);
}

function painted(before: string[], codes: string): string[] {
  let classes = before;
  for (const code of codes.split(";").map(Number)) {
    const colour = NAMES[code >= 90 ? code - 90 : code - 30];
    if (code === 0) classes = [];
    else if (code === 1) classes = [...classes, "ansi-bold"];
    else if (code === 39) classes = classes.filter((one) => one === "ansi-bold");
    else if (colour !== undefined)
      classes = [...classes.filter((one) => one === "ansi-bold"), `ansi-${colour}`];
  }
  return classes;
}
