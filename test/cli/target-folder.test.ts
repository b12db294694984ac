import { expect, test } from "vitest";
import type { Io } from "../../src/cli/main.ts";
import { seenFrom } from "../../src/cli/target-folder.ts";
import { AIMED } from "../helpers/aimed-environment.ts";

test("a folder that is named is meant, whatever the caller's git is aimed at; whose commits are made stays", () => {
  const own = { PATH: "/bin", GIT_AUTHOR_NAME: "Ada", GIT_CONFIG_COUNT: "0" };
  const io = { cwd: "/", env: { ...AIMED, ...own } } as unknown as Io;
  expect(seenFrom(io, "/").env).toEqual(own);
  expect(seenFrom(io, undefined).env).toEqual(io.env);
});
