import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lookAt } from "../../src/installer/plan/look.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let top: string;
let root: string;
beforeEach(() => {
  top = makeTemporaryFolder("look");
  root = join(top, "my project");
  for (const path of [".git/config", "inner/.git/config", "inner/deep/file", "plain/file"]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "text\n");
  }
  mkdirSync(join(top, "outside"));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

test("a file is found through links inside the repository", () => {
  symlinkSync("plain", join(root, "link"));
  expect(lookAt(root, "plain/file")).toMatchObject({
    real: "plain/file",
    text: "text\n",
    blocked: undefined,
  });
  expect(lookAt(root, "link/file")).toMatchObject({ real: "plain/file", text: "text\n", blocked: undefined });
  expect(lookAt(root, "new/folder/file")).toMatchObject({ missing: ["new", "new/folder"], bytes: undefined });
});

describe("nothing is written", () => {
  const LINKS: [string, () => string, string][] = [
    ["to the folder above", () => "..", "points out of the repository"],
    ["to a folder beside it", () => "../outside", "points out of the repository"],
    ["to a folder by its whole name", () => join(top, "outside"), "points out of the repository"],
    ["to git's own folder", () => ".git", "into git's own folder"],
    ["into another repository", () => "inner/deep", "belongs to the repository in inner"],
    ["to nothing", () => "nowhere", "points nowhere"],
  ];
  test.each(LINKS)("through a link %s", (_, target, why) => {
    symlinkSync(target(), join(root, "link"));
    expect(lookAt(root, "link/file").blocked).toContain(why);
  });

  test("in another repository inside this one", () => {
    expect(lookAt(root, "inner/file").blocked).toBe("belongs to the repository in inner");
    expect(lookAt(root, "inner/deep/file").blocked).toBe("belongs to the repository in inner");
  });

  test("where a file stands in place of a folder, or a folder in place of a file", () => {
    expect(lookAt(root, "plain/file/more").blocked).toBe("needs a folder where plain/file is a file");
    expect(lookAt(root, "plain").blocked).toBe("is a folder");
  });
});
