// @module-tag again
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCall, recogniseCaller } from "../../src/agent-hooks/call.ts";
import { judgeScript, judgeUnread } from "../../src/agent-hooks/judge.ts";
import { parser } from "../../src/agent-hooks/shell/parser.ts";
import { readPlain } from "../../src/agent-hooks/shell/plain.ts";
import { readScript } from "../../src/agent-hooks/shell/read.ts";
import { runs } from "../helpers/long-runs.ts";
import { fakeFacts, TASK } from "./fake-facts.ts";

const commandsOf = (line: string) => readScript(line, TASK, parser).commands;
const wordsOf = (line: string) => commandsOf(line).map((one) => one.words.map((word) => word.text));

describe("reading a line without the parser", () => {
  const word = fc.constantFrom(
    "git",
    "commit",
    "-m",
    "x=1",
    "A=b",
    "env",
    "-u",
    "--all",
    "a/b.ts",
    "nice",
    "x,y",
    "@",
  );

  test("gives what the parser gives", () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(" ", "  "),
        (words, space) => {
          const line = words.join(space);
          const plain = readPlain(line, TASK);
          if (plain) expect(plain).toEqual(readScript(line, TASK, parser));
        },
      ),
      runs(100),
    );
  });

  test.each([
    "echo 'x'",
    "a && b",
    "a; b",
    "$x",
    "a > b",
    "if x",
    "a\nb",
    "X=1",
    "~/a",
    "a*",
    "{ a",
    "bash -c ls",
  ])("leaves %j to it", (line) => expect(readPlain(line, TASK)).toBeUndefined());
});

describe("reading a line with the parser", () => {
  test.each<[string, string[][]]>([
    [`a "b c" 'd e' f\\ g`, [["a", "b c", "d e", "f g"]]],
    ["a && b || c; d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]],
    ["x=1 a; $x b", [["a"], ["$x", "b"]]],
    ["x='a b'; $x c", [["a", "b", "c"]]],
    ['x="a b"; "$x" c', [["a b", "c"]]],
    ["env -u X A=1 sudo -u ada nice -n 5 a b", [["a", "b"]]],
    ["bash -c 'a; b \"c d\"'", [["a"], ["b", "c d"]]],
    ["a $(b) `c`", [["b"], ["c"], ["a", "$(b)", "`c`"]]],
    ["f() { a; }; f", [["a"], ["f"]]],
    ["case x in y) a;; esac", [["a"]]],
    ["a <<EOF\n$(b)\nEOF", [["b"], ["a"]]],
    ["time -p a", [["a"]]],
  ])("%s", (line, words) => expect(wordsOf(line)).toEqual(words));

  test("follows where the commands run", () => {
    const folders = (line: string) => commandsOf(line).map((one) => one.folder);
    expect(folders("cd a && b; cd ../c; d")).toEqual([TASK, `${TASK}/a`, `${TASK}/a`, `${TASK}/c`]);
    expect(folders("(cd a; b); c")).toEqual([TASK, `${TASK}/a`, TASK]);
    expect(folders("cd $X; a; cd /b; c")).toEqual([TASK, undefined, undefined, "/b"]);
    expect(folders("cd ~; a")).toEqual([TASK, undefined]);
    expect(folders("env -C sub a")).toEqual([`${TASK}/sub`]);
  });

  test("never throws and never waits, whatever it is given", () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom(
        "git ",
        "commit ",
        "$(",
        "`",
        '"',
        "'",
        "<<EOF\n",
        ";",
        "&&",
        "|",
        "(",
        ")",
        "{",
        "bash -c ",
        "\\",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const line = pieces.join("");
        const script = readPlain(line, TASK) ?? readScript(line, TASK, parser);
        expect(Array.isArray(judgeScript(line, TASK, script, fakeFacts))).toBe(true);
      }),
      runs(500),
    );
  });

  test("ends with scripts in scripts", () => {
    let line = "pawl approve";
    for (let depth = 0; depth < 8; depth++) line = `bash -c '${line.replaceAll("'", "'\\''")}'`;
    const script = readScript(line, TASK, parser);
    expect(script.understood).toBe(false);
    expect(judgeScript(line, TASK, script, fakeFacts)).not.toEqual([]);
  });
});

describe("what an agent says", () => {
  const call = (tool: string, input: unknown, more = {}) =>
    readCall(
      "claude",
      JSON.stringify({ hook_event_name: "PreToolUse", tool_name: tool, tool_input: input, ...more }),
      "/here",
    );

  test.each<[string, string, unknown, string[]]>([
    ["Claude writes", "Write", { file_path: "/a/b.ts", content: "x" }, ["/a/b.ts"]],
    ["Claude edits", "Edit", { file_path: "/a/b.ts", old_string: "x" }, ["/a/b.ts"]],
    ["Claude's notebooks", "NotebookEdit", { notebook_path: "/a/b.ipynb" }, ["/a/b.ipynb"]],
    ["Copilot creates", "Write", { path: "/a/b.ts", file_text: "x" }, ["/a/b.ts"]],
    ["Copilot's editor has a command", "Edit", { command: "create", path: "/a/b.ts" }, ["/a/b.ts"]],
    [
      "a patch",
      "apply_patch",
      {
        input:
          "*** Begin Patch\n*** Add File: a.ts\n+x\n*** Update File: b.ts\n*** Move to: c.ts\n*** End Patch",
      },
      ["a.ts", "b.ts", "c.ts"],
    ],
    ["reading", "Read", { file_path: "/a/b.ts" }, []],
    ["searching", "Grep", { path: "/a", pattern: "x" }, []],
  ])("%s", (_what, tool, input, writes) => {
    expect(call(tool, input)).toMatchObject({ writes, command: undefined });
  });

  test.each<[unknown, string]>([
    [{ command: "git status" }, "git status"],
    [{ cmd: "git status" }, "git status"],
    [{ command: ["bash", "-lc", "git status; ls"] }, "git status; ls"],
    [{ command: ["git", "commit", "-m", "it's done"] }, "git commit -m 'it'\\''s done'"],
  ])("a command in the form %j", (input, command) => {
    expect(call("Bash", input)).toMatchObject({ command, writes: [] });
  });

  test("is read however little of it there is", () => {
    expect(readCall("codex", "not JSON", "/here")).toBeUndefined();
    expect(readCall("codex", "[]", "/here")).toBeUndefined();
    expect(readCall("codex", "{}", "/here")).toMatchObject({
      event: "",
      session: "",
      folder: "/here",
      writes: [],
    });
    expect(call("Bash", { command: 7 })).toMatchObject({ command: undefined });
  });

  test("Copilot is known by its environment when it reads Claude's settings", () => {
    expect(recogniseCaller("claude", {})).toBe("claude");
    expect(recogniseCaller("claude", { COPILOT_PROJECT_DIR: "/x" })).toBe("copilot");
    expect(recogniseCaller("claude", { COPILOT_CLI: "1" })).toBe("copilot");
    expect(recogniseCaller("codex", { COPILOT_CLI: "1" })).toBe("codex");
    expect(recogniseCaller("copilot", {})).toBe("copilot");
    expect(recogniseCaller(undefined, {})).toBe("claude");
  });

  test("what nobody could read is refused only where it sounds like an approval", () => {
    expect(judgeUnread('{"command":"pawl approve T0001')).toHaveLength(1);
    expect(judgeUnread('{"command":"git commit --no-verify')).toEqual([]);
  });
});
