import { isWaiting } from "../model/waiting.ts";

interface Screen {
  err(chunk: Buffer): void;
  errIsTerminal(): boolean;
}

/** One line up, and away with what stands there. */
const ERASE = "\u001b[1A\u001b[2K";

/**
 * What a command says while it works. A line that only says how long it has been waiting replaces the one before on a
 * terminal; a file or a pipe cannot take anything back, so it gets the first, the second, the fourth … of them.
 */
export function progressOn(screen: Screen): (chunk: Buffer) => void {
  let waited = 0;
  return (chunk) => {
    waited = isWaiting(chunk.toString("utf8")) ? waited + 1 : 0;
    if (waited > 1 && screen.errIsTerminal()) screen.err(Buffer.from(ERASE));
    else if (waited > 1 && !Number.isInteger(Math.log2(waited))) return;
    screen.err(chunk);
  };
}
