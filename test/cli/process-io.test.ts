import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processIo } from "../../src/cli/process-io.ts";
import { Failure } from "../../src/model/failure.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { inDialogue } from "../helpers/pseudo-terminal.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

function refusalOf(path: string): Pick<Failure, "kind" | "code" | "message"> {
  try {
    processIo().readText(path);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error(`${path} was read`);
}

test("a file for an option is read within limits, and what is no text is refused in words", () => {
  const folder = makeTemporaryFolder("texts");
  const at = (name: string, bytes: string | Buffer) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  expect(processIo().readText(at("plan.md", "Größer\n"))).toBe("Größer\n");
  expect(processIo().readText(at("long.md", "x".repeat(200_000)))).toHaveLength(200_000);
  expect(processIo().readText("/dev/null")).toBe("");
  // It never ends: without a limit this test would not either.
  expect(refusalOf("/dev/zero")).toMatchObject({ kind: "usage", code: "file_too_large" });
  expect(refusalOf(at("huge.md", Buffer.alloc(10_000_001, "x")))).toMatchObject({ code: "file_too_large" });
  expect(refusalOf(at("picture.png", Buffer.from([0xff, 0xd8])))).toMatchObject({ code: "not_text" });
  expect(refusalOf(folder)).toMatchObject({
    ...{ kind: "usage", code: "no_file", message: `"${folder}" is a folder, not a file.` },
  });
  const gone = join(folder, "gone.md");
  expect(refusalOf(gone)).toMatchObject({
    ...{ kind: "not_found", code: "no_file", message: `"${gone}" does not exist.` },
  });
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** It asks from a callback of the system, and only looks for an answer when one has long been there. */
const BUSY = (source: string) => `
import { readFile } from "node:fs";
import { processIo } from ${JSON.stringify(source)};
process.on("SIGINT", () => {});
readFile("/dev/null", async () => {
  process.stderr.write("Soon: ");
  for (const end = Date.now() + 500; Date.now() < end; );
  const answer = await processIo().ask("Sure? ").catch((error) => error.kind);
  process.stderr.write(\`answered \${answer}\\n\`);
});
`;

test("Ctrl-C before Enter is no answer, also while the process is too busy to hear it", async () => {
  const folder = makeTemporaryFolder("asking");
  const source = join(folder, "busy.ts");
  writeFileSync(source, BUSY(join(import.meta.dirname, "../../src/cli/process-io.ts")));
  const program = await bundleProgram(source, folder, "busy");
  const repository = makeRepository(folder);
  const typed = (keys: string) => inDialogue([process.execPath, program], repository, [[/Soon: $/, keys]]);
  expect((await typed("\x03\n")).out).toContain("answered interrupted");
  expect((await typed("yes\n")).out).toContain("answered yes");
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
