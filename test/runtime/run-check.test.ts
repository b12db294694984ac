import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isWaiting } from "../../src/model/waiting.ts";
import { runCheck } from "../../src/runtime/run-check.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let folder: string;
beforeAll(() => {
  folder = makeTemporaryFolder("check");
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

test("a silent check reports that it is still running, without mixing into the output", {
  tags: ["proof"],
  timeout: 30_000,
}, async () => {
  const told: string[] = [];
  const { tail, exitCode } = await runCheck(["sh", "-c", "echo begun; sleep 7.5; echo done"], {
    cwd: folder,
    env: process.env,
    local: folder,
    policy: {},
    progress: (chunk) => told.push(chunk.toString("utf8")),
  });
  expect([exitCode, tail]).toEqual([0, "begun\ndone"]);
  expect(told.find(isWaiting)).toMatch(/^still running echo begun; sleep 7\.5; echo done: [5-7] s\n$/);
  expect(told.filter((line) => !isWaiting(line)).join("")).toBe("begun\ndone\n");
});
