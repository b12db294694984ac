import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { Failure } from "../../model/failure.ts";
import type { Sqlite, Value } from "./sqlite.ts";

type WasmModule = typeof import("node-sqlite3-wasm");

/**
 * The optimising compiler stays out: an exiting process waits for its jobs, a process that stays keeps 40 MB for
 * them, and queries gain next to nothing.
 */
const FLAGS = ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering", "--wasm-lazy-validation"];
const USUAL = ["--wasm-tier-up", "--wasm-dynamic-tiering", "--no-wasm-lazy-validation"];

export function loadWasm(): Sqlite {
  for (const flag of FLAGS) setFlagsFromString(flag);
  // V8 takes no compiled code from a process with other flags than its own, and ours is kept at exit (files/code-cache.ts).
  process.prependOnceListener("exit", () => {
    for (const flag of USUAL) setFlagsFromString(flag);
  });
  const { Database } = requireWasm();
  return {
    open(path) {
      const database = new Database(path);
      return {
        exec: (sql) => database.exec(sql),
        rows: <Row>(sql: string, values: readonly Value[] = []) => database.all(sql, [...values]) as Row[],
        prepare(sql) {
          const statement = database.prepare(sql);
          return { run: (values) => void statement.run([...values]), close: () => statement.finalize() };
        },
        close: () => database.close(),
      };
    },
  };
}

/** `require` and not `import()`: in a CommonJS bundle the latter starts Node's loader of ES modules and its lexer. */
function requireWasm(): WasmModule {
  try {
    return createRequire(import.meta.url)("node-sqlite3-wasm") as WasmModule;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new Failure(
      "unavailable",
      "search_unavailable",
      "The package node-sqlite3-wasm, which search needs on this version of Node, is missing.",
      {
        hint: "Reinstall pawl, or use Node 22.15 or later, which has its own SQLite.",
        cause: error,
      },
    );
  }
}
