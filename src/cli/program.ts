import { main } from "./main.ts";
import { failedOutput, isServing, processIo } from "./process-io.ts";

const CANNOT_TELL = 2;

main(process.argv.slice(2), processIo()).then((code) => {
  const reason = failedOutput();
  if (reason) processIo().err(`pawl: the answer could not be written (${reason}).\n`);
  process.exitCode = reason ? CANNOT_TELL : code;
  // Everything is written. Left to itself, Node takes its heap apart first, for which a short command would wait 2 ms.
  if (!isServing()) process.exit();
});
