import { afterAll, beforeAll, describe, expect } from "vitest";
import { optionsOf, parseLine } from "../../src/cli/arguments.ts";
import { findCommand } from "../../src/cli/command-words.ts";
import { commandHelp } from "../../src/cli/help.ts";
import { styleFor } from "../../src/cli/style.ts";
import type { Failure } from "../../src/model/failure.ts";
import { fieldInfo, parseInput } from "../../src/model/input.ts";
import { PLAIN } from "../../src/model/text.ts";
import { allCommands } from "../helpers/all-commands.ts";
import { test } from "../helpers/command-line.ts";
import { shellWords } from "../helpers/shell-words.ts";

const commands = await allCommands();
const ids = commands.map(({ id }) => id);

describe.each(commands.map((command) => [command.id, command] as const))("%s", (id, command) => {
  test("its examples are what the parser and the schema accept", async () => {
    for (const example of command.examples) {
      const [program, ...words] = shellWords(example);
      expect(program, example).toBe("pawl");
      const found = findCommand(ids, words);
      expect(found, example).toMatchObject({ id });
      const { input, files } = parseLine(command, "rest" in found ? found.rest : []);
      const [text, json] = ["What the file says", [{ text: "What is wrong", severity: "low" }]];
      for (const field of Object.keys(files))
        input[field] = fieldInfo(command.input.shape[field]).type === "objects" ? json : text;
      expect(() => parseInput(command.input, input), example).not.toThrow();
    }
  });

  test("its help names and explains every option", async () => {
    const text = await commandHelp(id, PLAIN);
    for (const [name, { info }] of optionsOf(command)) {
      expect(text).toContain(`--${name}`);
      expect(info.describe, `--${name}`).toMatch(/^\S.{2,}/);
    }
  });
});

/** What somebody types who has not read anything yet, and what they are told. */
const SLIPS: [string, string[]][] = [
  ["taks", ["pawl task"]],
  ["lgo", ["pawl log"]],
  ["stat", ["pawl status"]],
  ["fin", ["pawl finish", "pawl finding"]],
  ["list", ["pawl task list", "pawl finding list", "pawl run list"]],
  ["new", ["pawl task new"]],
  ["show", ["pawl task show"]],
  ["aprove", ["pawl approve"]],
  ["isntall", ["pawl install"]],
  ["task lst", ["pawl task list"]],
  ["task sh", ["pawl task show"]],
  ["finding resovle", ["pawl finding resolve"]],
  ["drop", ["pawl task update T1 --status dropped"]],
  ["rm", ["pawl task update T1 --status dropped"]],
  ["task drop", ["pawl task update T1 --status dropped"]],
  ["task delete", ["pawl task update T1 --status dropped"]],
  ["finding drop", ["pawl finding add"]],
  ["hok", []],
  ["frobnicate", []],
];

test.each(SLIPS)("`pawl %s` is answered with what was probably meant", (typed, meant) => {
  try {
    findCommand(ids, typed.split(" "));
    expect.unreachable();
  } catch (error) {
    const { code, hint = "" } = error as Failure;
    expect(code).toBe("unknown_command");
    expect([...hint.matchAll(/`(pawl [^`]+)`/g)].map((match) => match[1])).toEqual([...meant, "pawl --help"]);
  }
});

test.each([
  ["a terminal", true, {}, true],
  ["no terminal", false, {}, false],
  ["NO_COLOR", true, { NO_COLOR: "1" }, false],
  ["an empty NO_COLOR, which asks for nothing", true, { NO_COLOR: "" }, true],
  ["a dumb terminal", true, { TERM: "dumb" }, false],
] as const)("colour: %s", (_name, terminal, env, coloured) => {
  expect(styleFor(terminal, env).red("x") !== "x").toBe(coloured);
});

describe("times are said by the reader's clock, to the minute", () => {
  const { TZ } = process.env;
  beforeAll(() => {
    process.env.TZ = "Asia/Kathmandu";
  });
  afterAll(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  test.each([
    ["2026-11-16T21:40:41.000Z", "2026-11-17 03:25"],
    ["main is open until 2026-11-16T21:40:41Z (U0001).", "main is open until 2026-11-17 03:25 (U0001)."],
    [
      "since 2026-11-16 21:40 UTC, expired 2026-11-16 22:00 UTC",
      "since 2026-11-17 03:25, expired 2026-11-17 03:45",
    ],
    ["version 2026-11-16", "version 2026-11-16"],
  ])("%s", (line, wanted) => {
    expect([styleFor(true, {}).times(line), styleFor(false, {}).times(line)]).toEqual([wanted, wanted]);
  });

  test("who reads without a clock of their own is told that it is UTC", () => {
    expect(PLAIN.times("until 2026-11-16T21:40:41.000Z")).toBe("until 2026-11-16 21:40 UTC");
  });

  test("a command's text, its notes and its errors; --json keeps what the records say", async ({
    project,
  }) => {
    await project.pawl("task", "new", "Fix it");
    const { json } = await project.pawl("task", "show", "T1", "--json");
    const { updated } = json.data.task;
    expect(updated).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
    const { out } = await project.pawl("task", "show", "T1");
    expect(out).toContain(styleFor(false, {}).times(updated));
    expect(out).not.toContain(updated);
    expect((await project.pawl("log")).out).not.toMatch(/\dZ\b/);
  });
});

test("the words that these tests check are those of a shell", () => {
  expect(shellWords(`pawl a "b c" 'd' -- e | less`)).toEqual(["pawl", "a", "b c", "d", "--", "e"]);
});
