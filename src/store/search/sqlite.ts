import { pathToFileURL } from "node:url";

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
 * `build` owns its file. `shared` is for a file that other processes read at the same time: what it changes stays in
 * memory, in a transaction that is never committed.
 */
type OpenMode = "build" | "shared";

export interface Sqlite {
  open(path: string, mode: OpenMode): Connection;
}

/** The caches are small because a process that stays never gives WebAssembly's memory back. */
const PRAGMAS: Record<OpenMode, string> = {
  build:
    "PRAGMA locking_mode = exclusive; PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -4000",
  shared: "PRAGMA cache_spill = off; PRAGMA journal_mode = memory; PRAGMA cache_size = -2000",
};

export function openConnection(sqlite: Sqlite, path: string, mode: OpenMode): Connection {
  const connection = sqlite.open(path, mode);
  try {
    connection.exec(`PRAGMA temp_store = memory; ${PRAGMAS[mode]}`);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Closed on every way out: a connection that stays open keeps its file locked for as long as the process lives. */
export function withConnection<T>(
  sqlite: Sqlite,
  path: string,
  mode: OpenMode,
  use: (connection: Connection) => T,
): T {
  const connection = openConnection(sqlite, path, mode);
  try {
    return use(connection);
  } finally {
    connection.close();
  }
}

let loaded: Sqlite | undefined;

/** Both engines read and write the same file, so a repository may be used by several versions of Node in turn. */
export async function loadSqlite(): Promise<Sqlite> {
  loaded ??= findNodeSqlite() ?? (await import("./sqlite-wasm.ts")).loadWasm();
  return loaded;
}

interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): { all(...values: Value[]): unknown[]; run(...values: Value[]): unknown };
  close(): void;
}

interface NodeSqliteModule {
  DatabaseSync: new (path: string | URL) => NodeDatabase;
}

function findNodeSqlite(): Sqlite | undefined {
  const module = withoutSqliteWarning(
    () => process.getBuiltinModule?.("node:sqlite" as "node:fs") as unknown as NodeSqliteModule | undefined,
  );
  return module && isSufficient(module)
    ? { open: (path, mode) => adaptNode(openNode(module, path, mode)) }
    : undefined;
}

/** Before 22.15 Node takes no URLs, and one that was built with the system's SQLite may lack FTS5. */
function isSufficient({ DatabaseSync }: NodeSqliteModule): boolean {
  try {
    const database = new DatabaseSync(new URL("file:///probe?mode=memory"));
    const modules = database.prepare("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").all();
    database.close();
    return modules.length > 0;
  } catch {
    return false;
  }
}

function openNode({ DatabaseSync }: NodeSqliteModule, path: string, mode: OpenMode): NodeDatabase {
  if (mode === "build") return new DatabaseSync(path);
  // POSIX locks belong to the inode, which all hard links share: two processes with changes would shut each other out.
  const url = pathToFileURL(path);
  url.searchParams.set("nolock", "1");
  return new DatabaseSync(url);
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
