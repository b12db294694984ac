import { expect, test } from "vitest";
import { hasNotRun } from "../../src/judge/not-run.ts";

test.each<[string, number, string, boolean]>([
  ["a missing command", 127, "sh: 1: cargo: not found", true],
  ["one that may not be run", 126, "sh: 1: ./x: Permission denied", true],
  ["Maven without Java", 1, "Error: x\nThe JAVA_HOME environment variable is not defined correctly,\n", true],
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
