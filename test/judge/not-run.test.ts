import { expect, test } from "vitest";
import { hasNotRun, whyNotRun } from "../../src/judge/not-run.ts";

test.each<[string, number, string, boolean]>([
  ["a missing command", 127, "sh: 1: cargo: not found", true],
  ["one that may not be run", 126, "sh: 1: ./x: Permission denied", true],
  [
    "make without Go",
    2,
    "make: go: No such file or directory\nmake: *** [Makefile:8: test] Error 127\ngo test ./...",
    true,
  ],
  ["make inside make", 2, "make[1]: *** [Makefile:3: unit] Error 127\nmake: *** [test] Error 2", true],
  ["just without a program", 127, "error: Recipe `test` failed on line 2 with exit code 127", true],
  ["task without a program", 201, 'task: Failed to run task "test": exit status 127', true],
  ["make whose test fails", 2, "1 failed\nmake: *** [Makefile:8: test] Error 1", false],
  ["Maven without Java", 1, "Error: x\nThe JAVA_HOME environment variable is not defined correctly,\n", true],
  [
    "Maven without a network",
    1,
    "[ERROR] [ERROR] Some problems were encountered\n[ERROR] Unresolveable build extension: Plugin x\n[ERROR] [Help 1] http://x",
    true,
  ],
  [
    "Gradle's wrapper without a network",
    1,
    'Exception in thread "main" java.net.UnknownHostException: services.gradle.org\n\tat org.gradle.wrapper.Install.forceFetch(SourceFile:2)',
    true,
  ],
  [
    "Maven's wrapper without a network",
    1,
    "wget: Failed to fetch https://repo.maven.apache.org/maven2/apache-maven-3.9.11-bin.zip",
    true,
  ],
  ["Gradle without Java", 1, "\nERROR: JAVA_HOME is not set and no 'java' command could be found", true],
  [
    "Cargo without a network",
    101,
    "error: failed to get `serde` as a dependency\n\nCaused by:\n  [6] Could not resolve hostname (Could not resolve host: index.crates.io)",
    true,
  ],
  ["rustup without a toolchain", 1, "error: rustup could not choose a version of cargo to run", true],
  ["Go without a network", 1, "go: example.com/x@v1: dial tcp: lookup proxy.golang.org: no such host", true],
  ["Python without pytest", 1, "/usr/bin/python3: No module named pytest", true],
  ["gems that are not installed", 7, "Could not find rspec-3.1 in locally installed gems", true],
  ["a test that fails", 1, "1 failed, 3 passed", false],
  ["a test of Java that fails", 1, "[ERROR] Tests run: 3, Failures: 1", false],
  ["a test that speaks of Java", 1, "expected 'JAVA_HOME is not set' to be undefined", false],
  ["a test that fails to get something", 101, "error: test failed, to rerun pass `--lib`", false],
  ["a module of the project's own that is missing", 1, "ModuleNotFoundError: No module named 'shop'", false],
  ["what passes, whatever it says", 0, "ERROR: JAVA_HOME is not set", false],
])("%s", (_name, exitCode, tail, wanted) => {
  expect(hasNotRun({ exitCode, tail })).toBe(wanted);
});

test.each<[string, string]>([
  ["sh: 1: uv: not found", "sh: 1: uv: not found"],
  [
    "make: go: No such file or directory\nmake: *** [Makefile:8: test] Error 127\ngo test",
    "make: go: No such file or directory",
  ],
  [
    "[ERROR] Unresolveable build extension: Plugin x\n[ERROR] [Help 1] http://x",
    "[ERROR] Unresolveable build extension: Plugin x",
  ],
  ["something\nelse\n", "else"],
])("the line that says why", (tail, line) => {
  expect(whyNotRun(tail)).toBe(line);
});
