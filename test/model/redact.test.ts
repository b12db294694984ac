// @module-tag again
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redact, redactPath } from "../../src/model/redact.ts";
import { runs } from "../helpers/long-runs.ts";

const known = { folders: [{ path: "/home/ada lovelace/my shop", name: "repository" }] };

/** Each is text that a message could hold, and what anybody may read of it. */
const TEXTS: [string, string][] = [
  ["nothing special, T0001 and 12 tasks", "nothing special, T0001 and 12 tasks"],
  ["/home/ada lovelace/my shop/.git/config is odd", "<repository>/.git/config is odd"],
  ["'/home/ada lovelace/my shop'", "'<repository>'"],
  ["/home/ada lovelace/my shop two/x", "<path>"],
  ["/home/ada lovelace/.ssh/id_rsa.", "<path>"],
  ["in /etc/passwd: line 3", "in <path>: line 3"],
  ["C:\\Users\\Ada\\AppData\\x and D:/work/y", "<path> and <path>"],
  ["\\\\server\\share\\x", "<path>"],
  ["~/secret/x", "<path>"],
  ["a/b/c.ts is relative", "a/b/c.ts is relative"],
  ["1 / 2", "1 / 2"],
  ["https://ada:hunter2@example.com/shop.git", "<url>"],
  ["origin ssh://git@internal.example/shop", "origin <url>"],
  ["git@internal.example:team/shop.git", "<url>"],
  ["file:///home/other/x", "<url>"],
  ["write to ada@example.com", "write to <email>"],
  ["GITHUB_TOKEN=abc123 and api-key: 'x y z'", "GITHUB_TOKEN=<secret> and api-key: <secret>"],
  ['{"password":"hunter2"}', '{"password":<secret>}'],
  ["Authorization: Bearer abcdefgh", "Authorization: <secret> <secret>"],
  ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "<secret>"],
  ["glpat-abcdefghij0123456789", "<secret>"],
  ["sk-proj-abcDEF0123456789", "<secret>"],
  ["AKIAIOSFODNN7EXAMPLE", "<secret>"],
  ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "<secret>"],
  ["eyJhbGciOiJIUzI1NiJ9abcdefgh.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x", "<secret>.<secret>.x"],
  ["123e4567-e89b-12d3-a456-426614174000", "<secret>"],
  ["0123456789abcdef0123456789abcdef01234567", "<hex>"],
  ["moved from 0123456789 to 9876543210", "moved from 0123456789 to 9876543210"],
  ["branch task/T0001-retry-failed-uploads-twice", "branch task/T0001-retry-failed-uploads-twice"],
];

test.each(TEXTS)("%s", (text, shown) => {
  const said = redact(text, known);
  // A header's value is a secret and so is what follows it; how many marks that leaves does not matter.
  expect(said.replace(/<secret>(?: <secret>)+/g, "<secret>")).toBe(
    shown.replace(/<secret>(?: <secret>)+/g, "<secret>"),
  );
});

describe("whatever surrounds it", () => {
  const folder = fc.stringMatching(/^[A-Za-z0-9_.é-]{3,12}$/);
  const around = fc.constantFrom("", "see ", "'", '"', "(", "\n", "a: ");

  test("no part of a path outside the repository is left", () => {
    fc.assert(
      fc.property(fc.array(folder, { minLength: 2, maxLength: 5 }), around, (parts, before) => {
        const marked = parts.map((part) => `zz${part}zz`);
        const said = redact(`${before}/${marked.join("/")}`, known);
        for (const part of marked) expect(said).not.toContain(part);
      }),
      runs(100),
    );
  });

  test("a path value with spaces everywhere is one path", () => {
    fc.assert(
      fc.property(fc.array(folder, { minLength: 2, maxLength: 5 }), (parts) => {
        expect(redactPath(`/${parts.map((part) => `q ${part} q`).join("/")}`, known)).toBe("<path>");
      }),
      runs(100),
    );
  });

  test("no password of an address is left", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\w!%*.~-]{4,30}$/), around, (password, before) => {
        const secret = `zz${password}zz`;
        expect(redact(`${before}https://x:${secret}@host.example/a.git`, known)).not.toContain(secret);
      }),
      runs(100),
    );
  });
});

describe("a line as long as the end of a log", () => {
  const LONG = 200_000;
  const PIECES = ["x", "a.", "a-", "token.", "tokens", "/a", "a@", "1a", "A-1-", "f", "a b/", "= ", "a:"];

  test.each(PIECES)("of nothing but %j takes no longer than reading it", (piece) => {
    const began = performance.now();
    redact(piece.repeat(LONG / piece.length), known);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test("still hides what stands at its end", () => {
    const said = redact(`${"x".repeat(LONG)} password=hunter2 ssh://git@internal.example/shop`, known);
    expect(said.slice(LONG)).toBe(" password=<secret> <url>");
  });
});
