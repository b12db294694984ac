// A reporter of vitest's: where the time of a run went, so that everybody sees which files are worth making faster.
import { relative } from "node:path";

const SHOWN = 25;

/** With what the file imports and what it prepares before its first test. */
const secondsOf = (file) => {
  const { collectDuration, duration } = file.diagnostic();
  return (collectDuration + duration) / 1_000;
};

export default class LongestTestFiles {
  onTestRunEnd(files) {
    const all = files.map((file) => [secondsOf(file), relative("", file.moduleId)]).sort(([a], [b]) => b - a);
    const lines = all
      .slice(0, SHOWN)
      .map(([seconds, name]) => `${seconds.toFixed(1).padStart(8)} s  ${name}`);
    console.log(["The longest files:", ...lines, ""].join("\n"));
  }
}
