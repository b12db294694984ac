// Renders the pictures of the README from a real run of the demo: node scripts/render-terminal.mjs writes docs/*.svg.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./install-if-needed.mjs";
import { terminalSvg } from "./terminal/svg.mjs";

/** Each picture is some acts of the demo, by how their command begins. */
const PICTURES = {
  "gate.svg": [
    "What an agent may not do",
    ["git commit --no-verify", "pawl finding wontfix", "pawl approve"],
  ],
  "approve.svg": ["What a human does", ["pawl approve", "pawl audit"]],
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

for (const [file, [title, wanted]] of Object.entries(PICTURES)) {
  const human = title.includes("human");
  const chosen = wanted.map((begin) =>
    acts.find(({ who, command }) => command.startsWith(begin) && who.includes("human") === human),
  );
  if (chosen.includes(undefined)) throw new Error(`${file}: the demo has no such act`);
  writeFileSync(join(root, "docs", file), terminalSvg(title, chosen.map(({ text }) => text).join("\n\n")));
  console.log(`docs/${file}`);
}
const [, folder] = /^Look around in (.*):$/m.exec(demo.stdout) ?? [];
rmSync(folder, { recursive: true, force: true });
