import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { VERSION } from "../../src/model/version.ts";
import { operations } from "../../src/ops/index.ts";
import { test } from "../helpers/command-line.ts";

const USAGE: [string, string[], string, RegExp][] = [
  ["an unknown command", ["tsk", "list"], "unknown_command", /pawl task/],
  ["two letters that changed places", ["taks"], "unknown_command", /pawl task/],
  ["an unknown sub-command", ["task", "lst"], "unknown_command", /pawl task list/],
  ["an unknown option", ["task", "list", "--statsu", "open"], "unknown_option", /--status/],
  [
    "what a sibling calls --reason",
    ["finding", "wontfix", "F1", "--reason", "x"],
    "unknown_option",
    /mean --note\?/,
  ],
  ["what others call --timeout", ["run", "wait", "T1", "--timeout", "5s"], "unknown_option", /mean --for\?/],
  ["an unknown short option", ["task", "list", "-x"], "unknown_option", /--/],
  ["an extra word", ["task", "show", "T1", "T2"], "extra_word", /quotes/],
  [
    "a repeated option",
    ["task", "new", "a", "--objective", "b", "--objective", "c"],
    "repeated_option",
    /once/,
  ],
  ["a position and an option", ["task", "show", "T1", "--task", "T2"], "repeated_option", /once/],
  ["a missing value at the end", ["task", "new", "a", "--objective"], "missing_value", /--objective/],
  [
    "an option where a value belongs",
    ["task", "new", "a", "--objective", "--dry-run"],
    "missing_value",
    /--objective=--dry-run/,
  ],
  ["a flag with a value", ["task", "list", "--all=yes"], "flag_with_value", /task list --help/],
  ["a word for a number", ["task", "list", "--limit", "few"], "bad_number", /task list --help/],
  ["a number below one", ["task", "list", "--limit", "0"], "bad_input", /task list --help/],
  ["a wrong choice", ["task", "list", "--status", "opne"], "bad_input", /task list --help/],
  ["a missing argument", ["task", "new"], "bad_input", /For example: pawl task new "/],
  ["an empty title", ["task", "new", "  "], "bad_input", /task new --help/],
  ["a title of 10 kB", ["task", "new", "x".repeat(10_240)], "bad_input", /task new --help/],
  ["no task id", ["task", "show", "banana"], "bad_task_id", /T0007/],
];

describe("wrong usage is exit 3, in words and in JSON, with the way out", () => {
  for (const [name, argv, code, hint] of USAGE)
    test(name, async ({ project }) => {
      const said = await project.pawl(...argv);
      expect(said).toMatchObject({ code: 3, out: "" });
      expect(said.err).toMatch(/^pawl: .+/);
      const { code: exit, json, err } = await project.pawl(...argv.slice(0, 2), "--json", ...argv.slice(2));
      expect({ exit, err }).toEqual({ exit: 3, err: "" });
      expect(json).toMatchObject({
        schema: 1,
        ok: false,
        error: { code, message: expect.stringMatching(/./) },
      });
      expect(json.error.hint ?? "").toMatch(hint);
    });
});

test.for([
  ["check", "T1", "--stage", "soon", "--stage must be one of plan, review, close, manage."],
  ["finish", "T1", "--remove", "--reason is needed."],
  ["task", "new", "TITLE is needed."],
  ["task", "list", "--limit", "0", "--limit must be at least 1."],
] as const)("a mistake is told with the option's own name: %s %s", async (line, { project }) => {
  const said = await project.pawl(...line.slice(0, -1));
  expect(said.err).toContain(`pawl: ${line.at(-1)}\n`);
  // The example has the option that was wrong, where there is one.
  if (line[0] === "finish") expect(said.err).toMatch(/^For example: pawl finish .*--reason/m);
});

/** What a line is answered after its message, before the last line that points to the help. */
const MEANT_WRONG: [string[], string[]][] = [
  [
    ["start", "Hello"],
    [`An id looks like T0007 or T7. A title has two words or more: pawl start "Hello the tests"`],
  ],
  [
    ["start", "T1", "--here", "--claim"],
    [
      "--here starts a new run in this worktree; --claim continues the existing run.",
      "For example: pawl start T0001 --claim",
    ],
  ],
  [["start", "T1", "--profile", "light"], ["For an existing task: pawl task update T1 --profile light"]],
  [
    ["install", "--agents", "foo"],
    ["Write it like this: --agents claude,codex,copilot,gemini,opencode,cursor,generic"],
  ],
  [
    ["finish", "T1", "--keep", "--remove"],
    ['pawl finish --remove --reason "…" saves unmerged work before it removes anything.'],
  ],
  [["finish", "T1", "--keep"], ['For example: pawl finish --keep --reason "waiting for the new API"']],
  [
    ["lane", "add"],
    [
      "Name them from the top of the repository: --path src/api --path 'test/**/*.ts'",
      "For example: pawl lane add T0001 --path src/api --path 'test/api/**'",
    ],
  ],
  [["override", "skill", "foo"], ["For small changes: pawl override skill foo --patch"]],
  [["task", "update", "T1"], ["For example: pawl task update T0001 --status active"]],
  [
    ["task", "update", "T1", "--depends", "soon"],
    ["A task id looks like T0007 or T7. `pawl task list` shows them."],
  ],
  [
    ["check", "soon"],
    [
      "A task id looks like T0007 or T7. `pawl task list` shows them.",
      "For example: pawl check T0001 --stage plan --json",
    ],
  ],
  [["audit", "--updates", "my file.txt"], ["pawl audit --ci --updates FILE"]],
  [["verify", "T1", "--check", "unit", "--", "true"], ["For example: pawl verify -- npm test"]],
  // No field is at fault, so the line was right.
  [["task", "edit", "T1"], ["Set EDITOR, for example `EDITOR=vi pawl task edit T0001`."]],
  [["mcp", "--key", "k"], ["For example: pawl mcp"]],
  [
    ["install", "--profile", "hooks", "--commit"],
    ["Leave out --commit: git's hooks lie in the git directory, and no branch has them."],
  ],
  // No example of these commands would be right with the option that is wrong.
  [["lane", "close", "T1/L1", "--task", "T2"], ["Leave one of them out."]],
  [["verify", "T1", "--check"], ["Write --check NAME."]],
  [
    ["decide", "x", "--why", "y", "--general", "--supersedes", "zz"],
    [
      "A note id looks like N0007 or N7. `pawl note list` shows them.",
      'For example: pawl decide "Node 20 at least" --why "18 is out of support" --general --supersedes N0001',
    ],
  ],
  // Lines that cannot be read.
  [["task", "list", "--limit", "x"], ["Write it like this: --limit N"]],
  [["task", "list", "--status", "foo"], ["For example: pawl task list --status active --status blocked"]],
  [["task", "list", "--all=yes"], ["Write it like this: --all"]],
  [["finding", "list", "--severity", "huge"], ["Write it like this: --severity high"]],
  [["verify", "--check=", "--key=", "--", "true"], ["Write it like this: --key KEY"]],
  [
    ["finding", "batch", "T1", "--findings", "x"],
    ["For example: pawl finding batch T0001 --findings-file findings.json"],
  ],
];

test.for(MEANT_WRONG)(
  "wrong usage says what to do, an example and where to read more, each once: %s",
  async ([line, told], { project }) => {
    project.write("my file.txt", "");
    await project.pawl("task", "new", "One");
    const { code, err } = await project.pawl(...line);
    const typed = line.slice(0, line[1] && `${line[0]}.${line[1]}` in commands ? 2 : 1).join(" ");
    const help = `\`pawl ${typed} --help\` explains it.`;
    expect({ code, told: err.trimEnd().split("\n").slice(1) }).toEqual({ code: 3, told: [...told, help] });
    const { json } = await project.pawl("--json", ...line);
    expect(json.error.hint).toBe([...told, help].join("\n"));
  },
);

test("options of every command may stand before its name, and words after `--` stay with it", async ({
  project,
}) => {
  await project.pawl("--actor", "human:Ada", "task", "--json", "new", "One");
  const { json } = await project.pawl("--json", "task", "show", "T1");
  expect(json.data.task.actor).toBe("human:Ada");
  const run = await project.pawl("--json", "--dry-run", "verify", "T1", "--", "npm", "test", "--json");
  expect(run.json.planned).toEqual([{ do: "run", path: "npm test --json" }]);
  // Names that every object has are not commands.
  for (const name of ["constructor", "toString", "__proto__"])
    expect((await project.pawl(name, "--json")).json.error.code).toBe("unknown_command");
});

test("text that looks like options is text where text is meant", async ({ project }) => {
  await project.pawl("task", "new", "--", "--weird title");
  await project.pawl("task", "new", "b", "--objective", "-dash first", "--acceptance=--no-verify is refused");
  await project.pawl("task", "update", "T2", "--status", "active");
  await project.pawl("decide", "x", "--why", "--no-verify is no answer");
  const { json } = await project.pawl("task", "show", "T2", "--json");
  expect(json.data.task).toMatchObject({ objective: "-dash first", acceptance: "--no-verify is refused" });
  expect(json.data.decisions[0].why).toBe("--no-verify is no answer");
  const first = await project.pawl("task", "show", "T1", "--json");
  expect(first.json.data.task.title).toBe("--weird title");
});

test("titles with quotes, emoji and dates are kept as they are, and one that was pasted over two lines is one line", async ({
  project,
}) => {
  const titles = [
    `"quoted" 'twice'`,
    "two\nlines",
    "🪛 ünïcödé",
    "2026-11-16",
    "007",
    "yes",
    "a: b # c",
    "---",
  ];
  for (const title of titles) await project.pawl("task", "new", "--", title);
  await project.pawl("task", "new", "--", "yes");
  const { json } = await project.pawl("task", "list", "--json");
  const kept = [...titles, "yes"].map((title) => title.replace("\n", " "));
  expect(json.data.tasks.map((task: { title: string }) => task.title)).toEqual(kept);
  const { out } = await project.pawl("task", "list");
  expect(out.trimEnd().split("\n")).toHaveLength(titles.length + 1);
});

test("`pawl` alone is the status, and works before anything was recorded", async ({ project }) => {
  const { code, json } = await project.pawl("--json");
  expect(code).toBe(0);
  expect(json).toMatchObject({
    ok: true,
    data: {
      status: { repo: "my project", branch: "main", installed: false, state: false, task: null, tasks: {} },
    },
    next: { command: "pawl install" },
    warnings: [expect.stringContaining("not installed in this repository")],
  });
  expect((await project.pawl()).out).toBe((await project.pawl("status")).out);
  expect(project.git("status", "--porcelain", "--ignored")).toBe("");
});

test("help is there for everything and exits 0", async ({ project }) => {
  const overview = await project.pawl("--help");
  for (const [id, load] of Object.entries(operations)) {
    const words = id.split(".");
    // What only our own hooks call is not for the list.
    expect(overview.out.includes(`pawl ${words.join(" ")}`), id).toBe(!(await load()).internal);
    const { code, out } = await project.pawl(...words, "--help");
    expect(code).toBe(0);
    expect(out).toContain("EXAMPLES");
    expect(out).not.toContain("undefined");
  }
  const group = await project.pawl("finding");
  expect(group).toMatchObject({ code: 0, out: expect.stringMatching(/USAGE pawl finding .*\|resolve\|/) });
  expect(group.out).toContain("Mark a finding as fixed, by a commit");
  expect(await project.pawl("help", "finding")).toEqual(group);
  expect(await project.pawl("finding", "--help")).toEqual(group);
  expect(await project.pawl("help")).toEqual(overview);
  expect((await project.pawl("help", "task", "new")).out).toContain("--objective");
  expect((await project.pawl("task", "new", "--nonsense", "--help")).code).toBe(0);
});

test("a group of commands is no answer for a script: --json gets an object, not the help", async ({
  project,
}) => {
  for (const argv of [
    ["finding", "--json"],
    ["--json", "finding"],
  ]) {
    const { code, json } = await project.pawl(...argv);
    expect([code, json.error.code]).toEqual([3, "unknown_command"]);
    expect(json.error.hint).toContain("pawl finding resolve");
  }
});

test("the overview begins with ten first steps, and has every command in one group", async ({ project }) => {
  const { out } = await project.pawl("--help");
  const parts = new Map(
    out.split("\n\n").map((part) => {
      const [title = "", ...lines] = part.split("\n");
      return [title, lines.map((line) => line.trim().split(/ {2,}/)[0] ?? "")];
    }),
  );
  expect([...parts.keys()].slice(1, 8)).toEqual([
    ...["First steps", "Begin", "Work", "Review", "Merge", "Look", "Set up"],
  ]);
  const grouped = ["Begin", "Work", "Review", "Merge", "Look", "Set up"].flatMap((one) => parts.get(one));
  expect(new Set(grouped).size).toBe(grouped.length);
  expect(parts.get("First steps")).toHaveLength(10);
  for (const line of parts.get("First steps") ?? []) expect(grouped).toContain(line);
});

test("a repository without pawl is told so, by its first command and by status until it is installed", async ({
  project,
}) => {
  const note = /^note: Pawl is not installed in this repository: .* Run: pawl install$/m;
  expect((await project.pawl("task", "list")).err).toMatch(note);
  expect((await project.pawl("task", "new", "One")).err).toMatch(note);
  expect((await project.pawl("task", "list")).err).not.toMatch(note);
  expect((await project.pawl()).err).toMatch(note);
  expect((await project.pawl("session")).err).toMatch(note);
  await project.pawl("install");
  for (const words of [[], ["session"], ["task", "list"]])
    expect((await project.pawl(...words)).err).not.toMatch(note);
  expect((await project.pawl("--json")).json.data.status.installed).toBe(true);
});

test("the version is the package's", async ({ project }) => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(VERSION).toBe(version);
  for (const flag of ["--version", "-v", "-V"]) expect((await project.pawl(flag)).out).toBe(`${version}\n`);
  const { json } = await project.pawlIn("/", {}, "version", "--json");
  expect(json.data.version).toEqual({ pawl: version, node: process.versions.node });
  expect((await project.pawl("--version", "--json")).json).toEqual(json);
});

test("a dry run says what would be written and writes nothing", async ({ project }) => {
  const { json } = await project.pawl("task", "new", "Rehearsal", "--dry-run", "--json");
  expect(json).toMatchObject({
    ok: true,
    planned: [{ do: "create", path: "tasks/T0001/task.md", record: "T0001" }],
  });
  const said = await project.pawl("task", "new", "Rehearsal", "--dry-run");
  expect(said.out).toContain("would create tasks/T0001/task.md");
  expect((await project.pawl("task", "list", "--json")).json.data.tasks).toEqual([]);
  expect(project.git("status", "--porcelain", "--ignored")).toBe("");
  await project.pawl("task", "new", "Real");
  const run = await project.pawl("verify", "T1", "--dry-run", "--json", "--", "touch", "made-by-check");
  expect(run.json.planned).toEqual([{ do: "run", path: "touch made-by-check" }]);
  expect(project.git("status", "--porcelain")).toBe("");
});

test("a key makes a repeated call safe, and another call with it is refused", async ({ project }) => {
  const first = await project.pawl("task", "new", "Once", "--key", "k1", "--json");
  const again = await project.pawl("task", "new", "Once", "--key", "k1", "--json");
  expect(again.json.data).toEqual(first.json.data);
  expect((await project.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(1);
  const other = await project.pawl("task", "new", "Twice", "--key", "k1", "--json");
  expect(other).toMatchObject({ code: 5, json: { error: { code: "key_used" } } });
});

test("outside a repository the error says so", async ({ project }) => {
  const { code, json } = await project.pawlIn("/", {}, "task", "list", "--json");
  expect({ code, error: json.error.code }).toEqual({ code: 4, error: "not_a_repository" });
  expect(json.error.hint).toMatch(/git init.*pawl install/);
});
