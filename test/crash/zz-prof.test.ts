import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { copyReady, inspect, makeReady } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";
test("profile", async () => {
  const folder = makeTemporaryFolder("prof");
  const worker = await bundleProgram(fileURLToPath(new URL("../helpers/operation-worker.ts", import.meta.url)), folder, "worker");
  const t = (name: string, from: number) => console.log(name, Date.now() - from);
  let s = Date.now();
  const ready = await makeReady(join(folder, "r"), 2); t("make", s);
  for (const kill of [undefined, 20, 30]) {
    s = Date.now(); const copy = copyReady(ready, join(folder, `c${kill}`)); t("copy", s);
    s = Date.now(); const r = await runJob(worker, copy.repos[0] as never, { operation: "approve", input: { task: "T1" }, typed: "T0001", ...(kill ? { killAtStep: kill } : {}) }); t("approve", s);
    if (r) console.log(r.steps.length, r.steps.join(", "));
    s = Date.now(); console.log(await runJob(worker, copy.repos[0] as never, { operation: "note.add", input: { title: "x" } })); t("next", s);
    s = Date.now(); inspect(copy, "main worktree"); t("inspect", s);
  }
}, 100000);
