import module from "node:module";

// Node 22 and newer keep compiled code between runs; Node 20 has no such cache and starts without it.
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

Promise.all([import("./main.ts"), import("./process-io.ts")]).then(async ([{ main }, { processIo }]) => {
  process.exitCode = await main(process.argv.slice(2), processIo());
});
