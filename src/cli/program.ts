import { main } from "./main.ts";
import { processIo } from "./process-io.ts";

main(process.argv.slice(2), processIo()).then((code) => {
  process.exitCode = code;
});
