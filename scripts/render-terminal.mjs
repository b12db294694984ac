// Renders the pictures of the README from a real run of the demo: node scripts/render-terminal.mjs writes docs/*.svg.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./install-if-needed.mjs";
import { terminalSvg } from "./terminal/svg.mjs";

/** Each picture is some acts of the demo, by how their command begins, and what it leaves out to fit on a screen. */
const PICTURES = {
  "gate.svg": [
    "What an agent may not do",
    ["git commit --no-verify", "pawl finding wontfix", "pawl approve"],
  ],
  "approve.svg": [
    "What a human does",
    ["pawl approve", "pawl audit"],
    [
      { after: /^api: .* into main$/, before: /^Evidence on exactly/ },
      { after: /^Receipt /, before: /^Type T0001 / },
    ],
  ],
};

const demo = spawnSync(process.execPath, ["scripts/demo.mjs", "--built"], { cwd: root, encoding: "utf8" });
if (demo.status !== 0) throw new Error(demo.stderr);

/** Every act as text: what was said about it, the command, and its answer without the demo's indentation. */
const acts = demo.stdout
  .split(/^\[\d+\/\d+\] /m)
  .slice(1)
  .map((act) => {
    const [why, who, command, ...answer] = act.split("\n\nLook around")[0].trimEnd().split("\n");
    const typed = answer.join("\n").replace(/(?<=: ) {2}(?=T0001$)/gm, "");
    return { who, command: command.slice(2), text: `# ${why}\n${command}\n${typed.replace(/^ {2}/gm, "")}` };
  });

/** The lines between two that the demo printed become one mark; both have to be there, or the picture would tell a tale. */
function leaveOut(text, { after, before }) {
  const lines = text.split("\n");
  const [from, to] = [
    lines.findIndex((line) => after.test(line)),
    lines.findIndex((line) => before.test(line)),
  ];
  if (from < 0 || to <= from) throw new Error(`The demo no longer prints ${after} and then ${before}`);
  const blank = lines[to - 1] === "" ? [""] : [];
  return [...lines.slice(0, from + 1), "  …", ...blank, ...lines.slice(to)].join("\n");
}

for (const [file, [title, wanted, cuts = []]] of Object.entries(PICTURES)) {
  const human = title.includes("human");
  const chosen = wanted.map((begin) =>
    acts.find(({ who, command }) => command.startsWith(begin) && who.includes("human") === human),
  );
  if (chosen.includes(undefined)) throw new Error(`${file}: the demo has no such act`);
  const text = cuts.reduce(leaveOut, chosen.map((act) => act.text).join("\n\n"));
  writeFileSync(join(root, "docs", file), terminalSvg(title, text));
  console.log(`docs/${file}`);
}
const [, folder] = /^Look around in (.*):$/m.exec(demo.stdout) ?? [];
rmSync(folder, { recursive: true, force: true });
