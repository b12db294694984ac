import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { inspect, type Ready, type Target, typing } from "./ready-task.ts";
import { stateOf } from "./temporary-repository.ts";

/** What has to be true after an approval of T0001, however it was asked for and wherever it was killed. */

/** Any other command that writes; in this process, because nobody kills it. */
export async function goOn(ready: Ready, context: string): Promise<void> {
  const next = await typing(ready, {}, "note", "add", "the next command");
  expect(next.code, context).toBe(0);
  expect(next.json.warnings.join("\n"), context).not.toMatch(/changed in the meantime|not settled|staged/);
}

export function recordOf(ready: Ready, path: string): string {
  const file = join(stateOf(ready.repos[0] as never), "tasks/T0001", path);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function phasesOf(ready: Ready, record: string): string[] {
  const events = join(stateOf(ready.repos[0] as never), "events");
  return readdirSync(events, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(events, name), "utf8").split("\n"))
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as { record: string; phase: string })
    .filter((event) => event.record.startsWith(`${record}@`))
    .map((event) => event.phase);
}

export const statusOf = (text: string) => /^status: (\w+)$/m.exec(text)?.[1];

/** The records say what git says, and nothing is left of the interrupted one; answers whether it is merged. */
export function expectTruth(ready: Ready, target: Target, context: string): boolean {
  const { merged, complaints } = inspect(ready, target);
  expect(complaints, context).toEqual([]);
  const said = [
    recordOf(ready, "task.md"),
    recordOf(ready, "findings/F1.md"),
    recordOf(ready, "approvals/A1.md"),
  ];
  const [task, finding, approval] = said.map(statusOf);
  expect([task, finding], context).toEqual(merged ? ["merged", "integrated"] : ["active", "fixed"]);
  expect(merged ? ["merged"] : [undefined, "rolled_back"], context).toContain(approval);
  for (const repo of merged ? ready.repos : [])
    expect(said[2], context).toContain(repo.git("rev-parse", "main"));
  // The log of events tells the same story: said before it was done, and after it was done or had failed.
  const phases = merged ? [["before", "after"]] : [[], ["before", "failed"]];
  expect(phases, context).toContainEqual(phasesOf(ready, "T0001/A1"));
  return merged;
}
