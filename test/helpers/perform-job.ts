import { Failure } from "../../src/model/failure.ts";
import { parseInput } from "../../src/model/input.ts";
import { operations } from "../../src/ops/index.ts";
import { openRuntime } from "../../src/runtime/open.ts";
import { run } from "../../src/runtime/run.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";

/** An operation and what it is given. */
export interface Call {
  operation: string;
  input: unknown;
  key?: string;
  /** What a human would type at the terminal: here the test is the outside of the program. */
  typed?: string;
}

export type Answer =
  | { ok: true; data: Record<string, { id: string; rev: number }>; warnings: string[] }
  | { ok: false; code: string; exitCode: number; message: string };

/** Runs an operation through the real runtime; `begin` is called when that is open, and nothing was done yet. */
export async function performJob(
  call: Call & { cwd: string },
  env: NodeJS.ProcessEnv,
  begin: () => void = () => {},
): Promise<Answer> {
  const load = operations[call.operation];
  if (!load) throw new Error(`There is no operation ${call.operation}`);
  const operation = await load();
  const ask = async (question: string) => (question === "" ? "" : call.typed);
  const around = {
    cwd: call.cwd,
    env,
    operations: Object.keys(operations),
    oneShot: true,
    progress: () => {},
    attended: () => true,
  };
  const runtime = openRuntime(call.typed === undefined ? around : { ...around, ask });
  begin();
  try {
    const input = parseInput(operation.input, call.input);
    const { data, warnings } = await run(operation, input, runtime, { key: call.key });
    return { ok: true, data: data as never, warnings };
  } catch (error) {
    const isFailure = error instanceof Failure;
    return {
      ok: false,
      code: isFailure ? error.code : "internal",
      exitCode: isFailure ? error.exitCode : 70,
      message: isFailure ? error.message : String((error as Error).stack),
    };
  }
}

/** In this process, for what nobody kills: starting Node costs more than most operations do. */
export const runHere = (repository: TemporaryRepository, call: Call): Promise<Answer> =>
  performJob({ cwd: repository.path, ...call }, repository.env);
