// A terminal as a picture: text in, SVG out, the same for the same text. Colours follow what the program itself paints.
const [CHARACTER, LINE, MARGIN, BAR] = [8.43, 20, 18, 34];
const COLOURS = {
  text: "#d6deeb",
  dim: "#7f8ea3",
  bold: "#ffffff",
  red: "#ff7b72",
  green: "#7ee787",
  cyan: "#79c0ff",
};

/** How a line looks, by how it begins; everything else is plain. */
const STYLES = [
  [/^\$ /, ["$", "cyan"], "bold"],
  [/^# /, ["#", "dim"], "dim"],
  [/^pawl: /, ["pawl:", "red"], "text"],
  [/^next: /, ["next:", "dim"], "dim"],
  [/^fatal: /, ["fatal:", "red"], "text"],
  [/^T\d+\/A\d+ merged/, ["", "green"], "green"],
  [/^Everything is explained/, ["", "green"], "green"],
];

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function spans(line) {
  const [, [head, headColour], rest] = STYLES.find(([pattern]) => pattern.test(line)) ?? [
    null,
    ["", "text"],
    "text",
  ];
  const weight = rest === "bold" ? ' font-weight="600"' : "";
  const first = head === "" ? "" : `<tspan fill="${COLOURS[headColour]}">${escaped(head)}</tspan>`;
  return `${first}<tspan fill="${COLOURS[rest]}"${weight}>${escaped(line.slice(head.length))}</tspan>`;
}

/** A long line goes on below, as a terminal would do it. */
function wrap(line, columns) {
  const parts = [];
  for (let rest = line; ; rest = rest.slice(columns)) {
    parts.push(rest.slice(0, columns));
    if (rest.length <= columns) return parts;
  }
}

export function terminalSvg(title, text, columns = 104) {
  const lines = text
    .trimEnd()
    .split("\n")
    .flatMap((line) => wrap(line, columns));
  const width = Math.round(columns * CHARACTER + 2 * MARGIN);
  const height = BAR + lines.length * LINE + MARGIN;
  const rows = lines.map((line, index) =>
    line === ""
      ? ""
      : `<text x="${MARGIN}" y="${BAR + (index + 1) * LINE - 4}" xml:space="preserve">${spans(line)}</text>\n`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
<text x="${width / 2}" y="21" fill="${COLOURS.dim}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12" text-anchor="middle">${escaped(title)}</text>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
${rows.join("")}</g>
</svg>
`;
}
