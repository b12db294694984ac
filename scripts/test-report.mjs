// A reporter of vitest's: where the time of a run went, each test that failed in a line of its own, and how many there were.
import { relative } from "node:path";

const SHOWN = 15;

/** With what the file imports and what it prepares before its first test. */
const secondsOf = (file) => {
  const { collectDuration, duration } = file.diagnostic();
  return (collectDuration + duration) / 1_000;
};

const nameOf = (file) => relative("", file.moduleId);
const oneLine = (text) => text.replace(/\s+/g, " ").trim().slice(0, 240);

export default class TestReport {
  onTestRunEnd(files, errors) {
    const longest = files.map((file) => [secondsOf(file), nameOf(file)]).sort(([a], [b]) => b - a);
    const lines = longest
      .slice(0, SHOWN)
      .map(([seconds, name]) => `${seconds.toFixed(1).padStart(8)} s  ${name}`);
    console.log(["The longest files:", ...lines, ""].join("\n"));
    const failed = [...files.flatMap(failuresIn), ...errors.map((one) => `error ${oneLine(one.message)}`)];
    for (const one of failed) console.log(`FAILED ${one}`);
    const passed = files.flatMap((file) => [...file.children.allTests("passed")]).length;
    process.send?.({ passed, failed: failed.length });
  }
}

/** A file or a group fails by itself where it cannot be loaded or one of its hooks fails. */
function failuresIn(file) {
  const groups = [file, ...file.children.allSuites()].filter((one) => one.errors().length > 0);
  return [...groups, ...file.children.allTests("failed")].map(
    (one) => `${nameOf(file)} ${oneLine(one === file ? "" : `> ${one.fullName}`)}`,
  );
}
