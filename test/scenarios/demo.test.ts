import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Commit ids and receipts differ from run to run. */
const masked = (text: string) =>
  text.replace(/\b[0-9a-f]{7,40}\b/g, "COMMIT").replace(/Receipt(?: [0-9a-f]{4}){4}/g, "Receipt DIGITS");

/** What a picture shows, line by line, without the marks that the picture adds. */
function linesOf(picture: string): string[] {
  const rows = readFileSync(join(root, "docs", picture), "utf8").match(/<text[^>]*xml:space[^\n]*/g) ?? [];
  return rows.map((row) =>
    masked(
      row
        .replace(/<[^>]*>/g, "")
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&amp;", "&"),
    )
      .replace(/^[$#] /, "")
      .replace(/: T0001$/, ":")
      .trim(),
  );
}

/** `npm run demo`, but for its build: what `npm test` built is used, with an empty home folder and no name anywhere. */
test("the demo ends with a merged task in two repositories that can be explored", {
  timeout: 240_000,
}, async () => {
  const home = makeTemporaryFolder("demo");
  mkdirSync(join(home, "tmp"));
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: join(home, "tmp") };
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/demo.mjs", "--built"], {
    cwd: root,
    env,
  });
  const folder = /^Look around in (.*):$/m.exec(stdout)?.[1] ?? "";
  expect(folder.startsWith(home)).toBe(true);
  const [, last, total] = [...stdout.matchAll(/^\[(\d+)\/(\d+)\]/gm)].at(-1) ?? [];
  expect(last).toBe(total);
  for (const line of [
    "pawl: refused: main is protected, and nobody has approved this change.",
    "pawl: Only a human may approve a merge; this is agent:codex:author-session.",
    "T0001/A1 merged: Make sum add up",
    "Everything is explained.",
    "I read: You are the author of T0002",
    "T0002/R1 succeeded",
  ])
    expect(stdout).toContain(line);
  for (const repo of ["shop", "api"]) {
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", join(folder, repo), ...args], { env, encoding: "utf8" }).trim();
    expect(git("show", "main:sum.mjs")).toBe("export const sum = (a, b) => a + b;");
    expect(git("log", "-1", "--format=%P", "main").split(" ")).toHaveLength(2);
    expect(git("status", "--porcelain")).toBe("");
    expect(git("worktree", "list").split("\n")).toHaveLength(1);
  }
  const shop = join(folder, "shop");
  expect(existsSync(join(shop, ".pawl/state/tasks/T0001/approvals/A1.md"))).toBe(true);
  const shown = execFileSync(process.execPath, [".pawl/pawl.cjs", "task", "show", "T1"], {
    cwd: shop,
    env,
    encoding: "utf8",
  });
  expect(shown).toContain("done");
  for (const picture of ["gate.svg", "approve.svg"]) {
    // A line that is only the mark says that the picture leaves some out.
    const lines = linesOf(picture).filter((line) => line !== "…");
    const missing = lines.filter((line) => !masked(stdout).includes(line));
    expect(missing, `node scripts/render-terminal.mjs renders docs/${picture} again`).toEqual([]);
    expect(lines.length).toBeGreaterThan(10);
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
});
