import { main } from "./main.ts";
import { failedOutput, processIo } from "./process-io.ts";

const CANNOT_TELL = 2;

main(process.argv.slice(2), processIo()).then((code) => {
  const reason = failedOutput();
  if (reason) processIo().err(`pawl: the answer could not be written (${reason}).\n`);
  process.exitCode = reason ? CANNOT_TELL : code;
});
