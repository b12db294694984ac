import { describe, expect, test } from "vitest";
import { checkPattern, matches, overlaps } from "../../src/model/path-patterns.ts";

describe("a path matches", () => {
  test.each([
    ["src/api/a.ts", "src/api", true],
    ["src/api/deep/a.ts", "src/api", true],
    ["src/api", "src/api", true],
    ["src/apis/a.ts", "src/api", false],
    ["src/a.ts", "src/*.ts", true],
    ["src/deep/a.ts", "src/*.ts", false],
    ["src/deep/er/a.ts", "src/**/*.ts", true],
    ["src/a.ts", "src/**/*.ts", true],
    ["src/a.tsx", "src/**/*.ts", false],
    ["a.b", "a*b", true],
    ["aXb", "a.b", false],
    ["anything/at/all", "**", true],
  ])("%s and %s: %s", (path, pattern, wanted) => {
    expect(matches(path, pattern)).toBe(wanted);
  });
});

describe("patterns overlap", () => {
  test.each([
    ["src/api", "src/web", false],
    ["src/api", "src/api/deep", true],
    ["src", "src/api/**", true],
    ["src/*.ts", "src/api/**", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/*.md", false],
    ["src/api*", "src/web*", false],
    ["src/**/test", "src/api/**", true],
    ["docs/**", "src/**", false],
    ["**/*.md", "src/**", true],
    ["**", "anything", true],
  ])("%s and %s: %s", (one, other, wanted) => {
    expect(overlaps(one, other)).toBe(wanted);
    expect(overlaps(other, one)).toBe(wanted);
  });
});

test.each(["", "/etc", "../other", "src/../..", "a\\b"])(
  "%j is not a path inside a repository",
  (pattern) => {
    expect(() => checkPattern(pattern)).toThrow("is not a path below the repository");
  },
);
