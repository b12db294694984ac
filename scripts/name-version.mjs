// `npm version` runs this, so that users who copy a line from our pages name the package that there is.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { root } from "./install-if-needed.mjs";

const { version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
// Figures keep the version that was measured.
const docs = readdirSync(`${root}/docs`).filter((name) => name.endsWith(".md") && name !== "benchmarks.md");
for (const page of ["README.md", ...docs.map((name) => `docs/${name}`)]) {
  const text = readFileSync(`${root}/${page}`, "utf8");
  const renewed = text.replace(
    /\bpawl([ -])\d+\.\d+\.\d+(?:-[0-9A-Za-z]+(?:\.(?!tgz)[0-9A-Za-z]+)*)?/g,
    `pawl$1${version}`,
  );
  if (renewed === text) continue;
  writeFileSync(`${root}/${page}`, renewed);
  // npm commits what is in the index.
  execFileSync("git", ["add", page], { cwd: root });
}
