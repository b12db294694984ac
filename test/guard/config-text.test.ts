import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type Displaced,
  foreignLine,
  missingEnds,
  NOTHING_OF_OURS,
  type OwnSettings,
  switchesWorktreesOn,
  withOurs,
  withOwnValue,
  withoutOwnValue,
} from "../../src/guard/config-text.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const DIR = '/home/a "b" \\ c/.git/pawl/hooks';
const CORE = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const REMOTE = '[remote "origin"]\n\turl = x\n';

/** As people, git and other programs leave them. */
const CONFIGS: Record<string, string> = {
  "as git makes it": CORE,
  "with something after it": `${CORE}${REMOTE}`,
  "without a last end of line": `${CORE}${REMOTE}`.slice(0, -1),
  "without a last end of line in the core section": CORE.slice(0, -1),
  empty: "",
  "without a core section": REMOTE,
  "with a core section without entries": `${CORE}${REMOTE}[core]\n`,
  "with nothing but headers": "[core]\n",
  "with comments and blank lines": `# mine\n\n${CORE}\n\n; and\n${REMOTE}\n\n`,
  "with the ends of lines of another system": `${CORE}${REMOTE}`.replaceAll("\n", "\r\n"),
  "with two core sections": `${CORE}${REMOTE}[core]\n\tautocrlf = input\n`,
  "with husky's value": `${CORE}\thooksPath = .husky/_\n${REMOTE}`,
  "with a value in other letters": `${CORE}    HooksPath=.githooks # ours\n${REMOTE}`,
  "with a value that goes on in the next line": `${CORE}\thooksPath = .git\\\nhooks\n${REMOTE}`,
  "with a value and no end of line": `${CORE}${REMOTE}[core]\n\thooksPath = .githooks`,
  "with an extension": `${CORE}[extensions]\n\tobjectFormat = sha256\n`,
  "with settings for single worktrees": `${CORE}[extensions]\n\tworktreeConfig = true\n`,
  "with a hook of the user's": `${CORE}[hook "lint"]\n\tevent = pre-commit\n\tcommand = true\n`,
  "with what another tool calls a section": '[a.b "c \\" ]"]\n\tx\n[CORE]\n\tbare = false\n',
};
const own = (some: Partial<OwnSettings>): OwnSettings => ({ ...NOTHING_OF_OURS, ...some });
const SETTINGS: Record<string, OwnSettings> = {
  "the plain value": own({ local: true }),
  "a value for each worktree": own({ perWorktree: true, extension: true }),
  "both, and the hook": own({ local: true, perWorktree: true, extension: true, hook: true }),
  "the plain value and the hook": own({ local: true, hook: true }),
};
const displacedBy = (text: string, settings: OwnSettings): Displaced => ({
  line: foreignLine(text) ?? null,
  addedEnds: missingEnds(text),
  extension: settings.extension && !switchesWorktreesOn(text),
});

let folder: string;
beforeAll(() => {
  folder = makeTemporaryFolder("config");
});
const asGitReads = (text: string, key: string): string => {
  const file = join(folder, "config");
  writeFileSync(file, text);
  try {
    return execFileSync("git", ["config", "--file", file, "--get-all", key], { encoding: "utf8" }).trimEnd();
  } catch {
    return "";
  }
};

describe.each(Object.entries(CONFIGS))("a configuration %s", (_name, text) => {
  test.each(Object.entries(SETTINGS))("says %s, and nothing of it afterwards", (_how, settings) => {
    const displaced = displacedBy(text, settings);
    const ours = withOurs(text, DIR, settings, displaced);
    if (settings.local) expect(asGitReads(ours, "core.hooksPath")).toBe(DIR.replaceAll("\\", "/"));
    else expect(asGitReads(ours, "core.hooksPath")).toBe(asGitReads(text, "core.hooksPath"));
    if (settings.extension) expect(asGitReads(ours, "extensions.worktreeConfig")).toBe("true");
    expect(asGitReads(ours, "hook.pawl.event")).toBe(settings.hook ? "reference-transaction" : "");
    for (const key of ["remote.origin.url", "core.bare", "hook.lint.command", "extensions.objectFormat"])
      expect(asGitReads(ours, key)).toBe(asGitReads(text, key));
    // Again there is nothing to do, and git's own changes stay when ours go.
    expect(withOurs(ours, DIR, settings, displaced)).toBe(ours);
    expect(withOurs(ours, DIR, NOTHING_OF_OURS, displaced)).toBe(text);
    const grown = `${ours.replace(/\n?$/, "\n")}[branch "x"]\n\tremote = origin\n`;
    const left = withOurs(grown, DIR, NOTHING_OF_OURS, displaced);
    expect(left.replace(/\n?$/, "")).toBe(
      `${text.replace(/\n?$/, "")}\n[branch "x"]\n\tremote = origin`.trim(),
    );
  });

  test("has its own value for a worktree, and not afterwards", () => {
    const ours = withOwnValue(text, DIR);
    if (foreignLine(text) === undefined) expect(asGitReads(ours, "core.hooksPath")).toContain("/pawl/hooks");
    expect(withOwnValue(ours, DIR)).toBe(ours);
    expect(withoutOwnValue(ours).replace(/\n?$/, "")).toBe(text.replace(/\n?$/, ""));
  });
});

test.each([
  ["and goes on in no line", "\teditor = vim\\\n"],
  ["and is not even ended", "\teditor = vim\\"],
])("a last line that says that it goes on, %s, does not take ours into its value", (_how, line) => {
  const text = `${REMOTE}[core]\n${line}`;
  const settings = own({ local: true, perWorktree: true, extension: true, hook: true });
  const displaced = displacedBy(text, settings);
  const ours = withOurs(text, DIR, settings, displaced);
  expect(asGitReads(ours, "core.editor")).toBe("vim");
  expect(asGitReads(ours, "core.hooksPath")).toBe(DIR.replaceAll("\\", "/"));
  expect(withOurs(ours, DIR, settings, displaced)).toBe(ours);
  expect(withOurs(ours, DIR, NOTHING_OF_OURS, displaced)).toBe(text);
  expect(asGitReads(withOwnValue(text, DIR), "core.editor")).toBe("vim");
});

describe("what others did to ours", () => {
  const settings = own({ local: true, perWorktree: true, extension: true, hook: true });
  const clean: Displaced = { line: null, addedEnds: 0, extension: true };
  const ours = withOurs(CORE, DIR, settings, clean);

  test("another tool's value stands in the place of ours, and comes back when we go", () => {
    const theirs = ours.replace(/\thooksPath = .*\n/, "\thooksPath = .husky/_\n");
    const line = foreignLine(theirs) ?? null;
    expect(line).toBe("\thooksPath = .husky/_\n");
    const again = withOurs(theirs, DIR, settings, { ...clean, line });
    expect(again).toBe(ours);
    expect(withOurs(again, DIR, NOTHING_OF_OURS, { ...clean, line })).toBe(`${CORE}\thooksPath = .husky/_\n`);
  });

  test("a section of ours in which somebody wrote keeps what they wrote", () => {
    const more = ours.replace("\tworktreeConfig = true\n", "\tworktreeConfig = true\n\tpartialClone = x\n");
    const left = withOurs(more, DIR, NOTHING_OF_OURS, clean);
    expect(left).toBe(`${CORE}[extensions]\n\tpartialClone = x\n`);
  });

  test("a hook that was switched off is switched on again", () => {
    for (const off of [
      `${ours}[hook "pawl"]\n\tenabled = false\n`,
      `${ours}[hook.pawl]\n\tcommand = true\n`,
      ours.replace("\tevent =", "\tenabled = false\n\tevent ="),
      ours.replace("reference-transaction\n", "pre-commit\n"),
      ours.replace("\tcommand =", "# why it is here\n\n\tcommand ="),
    ])
      expect(withOurs(off, DIR, settings, clean)).toBe(ours);
  });

  test("what stands after the section of our hook is the user's", () => {
    const more = `${ours}# mine\n${REMOTE}`;
    expect(withOurs(more, DIR, NOTHING_OF_OURS, clean)).toBe(`${CORE}# mine\n${REMOTE}`);
  });

  test("a value of a repository that was moved is replaced", () => {
    const moved = withOurs(ours, "/else/where/.git/pawl/hooks", settings, clean);
    expect(asGitReads(moved, "core.hooksPath")).toBe("/else/where/.git/pawl/hooks");
    expect(foreignLine(moved)).toBeUndefined();
  });

  test("what versions before 0.2 wrote is replaced, or goes", () => {
    for (const text of [`${CORE}\thooksPath = .husky/_\n`, CORE, CORE.slice(0, -1)]) {
      const addedEnds = text.endsWith("\n") ? 0 : 1;
      const old = `${text}${"\n".repeat(addedEnds)}[includeIf "gitdir:/a/.git"]\n\tpath = pawl/hooks.config\n[includeIf "gitdir:/a/.git/"]\n\tpath = pawl/hooks.config\n`;
      const displaced = { line: foreignLine(old) ?? null, addedEnds, extension: true };
      const now = withOurs(old, DIR, settings, displaced);
      expect(now).not.toContain("includeIf");
      expect(withOurs(now, DIR, NOTHING_OF_OURS, displaced)).toBe(text);
      expect(withOurs(old, DIR, NOTHING_OF_OURS, { ...displaced, line: null })).toBe(text);
    }
  });
});
