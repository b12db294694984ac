import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Failure } from "../../model/failure.ts";

export type Value = string | number | null;

interface Statement {
  run(values: readonly Value[]): void;
  close(): void;
}

export interface Connection {
  exec(sql: string): void;
  rows<Row>(sql: string, values?: readonly Value[]): Row[];
  prepare(sql: string): Statement;
  close(): void;
}

/**
 * `read` never writes; `build` owns its file; `overlay` may change what it sees inside a transaction that is never
 * committed, on a file that other processes are reading.
 */
type OpenMode = "read" | "build" | "overlay";

export interface Sqlite {
  open(path: string, mode: OpenMode): Connection;
}

/** Both engines read and write the same file, so a repository may be used by several versions of Node in turn. */
export function loadSqlite(options: { oneShot: boolean }): Sqlite {
  return findNodeSqlite() ?? loadWasm(options);
}

/** An overlay keeps every changed page in memory, for the file is the one that everybody reads. */
const PRAGMAS: Record<OpenMode, string> = {
  read: "PRAGMA cache_size = -32000",
  build:
    "PRAGMA locking_mode = exclusive; PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -128000",
  overlay: "PRAGMA cache_spill = off; PRAGMA journal_mode = memory",
};

/** Closed on every way out: a connection that stays open keeps its file locked for as long as the process lives. */
export function withConnection<T>(
  sqlite: Sqlite,
  path: string,
  mode: OpenMode,
  use: (connection: Connection) => T,
): T {
  const connection = sqlite.open(path, mode);
  try {
    connection.exec(`PRAGMA temp_store = memory; ${PRAGMAS[mode]}`);
    return use(connection);
  } finally {
    connection.close();
  }
}

interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): { all(...values: Value[]): unknown[]; run(...values: Value[]): unknown };
  close(): void;
}

interface NodeSqliteModule {
  DatabaseSync: new (path: string | URL, options: { readOnly: boolean }) => NodeDatabase;
}

function findNodeSqlite(): Sqlite | undefined {
  const module = withoutSqliteWarning(
    () => process.getBuiltinModule?.("node:sqlite" as "node:fs") as unknown as NodeSqliteModule | undefined,
  );
  return module && { open: (path, mode) => adaptNode(openNode(module, path, mode)) };
}

function openNode(module: NodeSqliteModule, path: string, mode: OpenMode): NodeDatabase {
  const options = { readOnly: mode === "read" };
  if (mode !== "overlay") return new module.DatabaseSync(path, options);
  // POSIX locks belong to the inode, which all hard links share: two overlays would shut each other out.
  const url = pathToFileURL(path);
  url.searchParams.set("nolock", "1");
  return new module.DatabaseSync(url, options);
}

function adaptNode(database: NodeDatabase): Connection {
  return {
    exec: (sql) => database.exec(sql),
    rows: <Row>(sql: string, values: readonly Value[] = []) => database.prepare(sql).all(...values) as Row[],
    prepare(sql) {
      const statement = database.prepare(sql);
      return { run: (values) => void statement.run(...values), close: () => {} };
    },
    close: () => database.close(),
  };
}

/** Node 22 announces on first use that its SQLite is experimental; every other warning passes. */
function withoutSqliteWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  const filtered = (warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] === "ExperimentalWarning" && String(warning).startsWith("SQLite ")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  process.emitWarning = filtered as typeof process.emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

type WasmModule = typeof import("node-sqlite3-wasm");

/**
 * `require` and not `import()`: in a CommonJS bundle the latter starts Node's ESM loader and its lexer, which costs
 * more than a whole query.
 */
function loadWasm({ oneShot }: { oneShot: boolean }): Sqlite {
  // The optimising compiler helps only after seconds, and an exiting process waits for its jobs. A large tiering
  // budget alone does not stop it: one loop of the SQLite interpreter is so long that 5,000 rounds use up 10^9.
  const require = createRequire(import.meta.url);
  const v8 = oneShot ? (require("node:v8") as typeof import("node:v8")) : undefined;
  for (const flag of ["--liftoff-only", "--wasm-lazy-validation"]) v8?.setFlagsFromString(flag);
  const { Database } = requireWasm(require);
  return {
    open(path, mode) {
      const database = new Database(path, { readOnly: mode === "read" });
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

function requireWasm(require: NodeJS.Require): WasmModule {
  try {
    return require("node-sqlite3-wasm") as WasmModule;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new Failure(
      "unavailable",
      "search_unavailable",
      "The package node-sqlite3-wasm, which search needs, is missing.",
      {
        hint: "Install Pawl again, or use Node 22.13 or later, which brings its own SQLite.",
        cause: error,
      },
    );
  }
}
