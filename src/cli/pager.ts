import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Body } from "../ports/operation.ts";
import type { Io } from "./main.ts";
import { styleFor } from "./style.ts";

/** Prints an answer piece by piece: through the user's pager on a terminal, as the bytes it is made of elsewhere. */
export async function printBody(body: Body, io: Io, isLive: boolean): Promise<void> {
  const terminal = io.outIsTerminal();
  const pieces = body({ style: styleFor(terminal, io.env), terminal, size: () => io.outSize?.() });
  const command = terminal && !isLive ? pagerOf(io.env) : undefined;
  if (command !== undefined) return page(command, pieces, io);
  const reader = isLive && io.outIsPipe?.() ? noticeReader() : undefined;
  for await (const piece of pieces) {
    io.out(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    if (io.outIsGone?.() || reader?.isGone()) break;
  }
  reader?.forget();
}

/**
 * Node cannot ask whether a pipe still has a reader, and writing nothing to one is no question either. GNU's tail asks:
 * it dies of SIGPIPE. Where there is another tail or none, the next line that is written finds out.
 */
function noticeReader() {
  const tail = spawn("tail", [`--pid=${process.pid}`, "-f", "/dev/null"], { stdio: ["ignore", 1, "ignore"] });
  let gone = false;
  tail.on("error", () => {});
  tail.on("exit", (_code, signal) => {
    gone = signal === "SIGPIPE";
  });
  return { isGone: () => gone, forget: () => tail.kill() };
}

/** The same for something that is not the answer: where that goes into a pipe, it is kept out of it. */
export async function showBody(body: Body, io: Io): Promise<void> {
  if (io.outIsTerminal()) return printBody(body, io, false);
  for await (const piece of body({ style: styleFor(false, io.env), terminal: false }))
    io.err(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
}

/** As git chooses it; `cat` or nothing at all means that the user wants none. */
function pagerOf(env: Io["env"]): string | undefined {
  const named = env.GIT_PAGER ?? env.PAGER ?? "less -FRX";
  return named === "" || named === "cat" ? undefined : named;
}

async function page(command: string, pieces: AsyncIterable<Uint8Array>, io: Io): Promise<void> {
  // What a shell answers for a command that does not exist is 127; it has read nothing then, and cat gets it all.
  const line = process.platform === "win32" ? command : `{ ${command}\n} || { [ $? -eq 127 ] && cat; }`;
  const env = { LESS: "FRX", LV: "-c", ...io.env };
  const pager = spawn(line, { shell: true, stdio: ["pipe", "inherit", "inherit"], env, cwd: io.cwd });
  let gone = false;
  const ended = once(pager, "close").then(() => {
    gone = true;
  });
  // Somebody who has seen enough closes the pager before the end.
  pager.stdin.on("error", () => {
    gone = true;
  });
  for await (const piece of pieces) {
    if (gone) break;
    if (pager.stdin.write(piece)) continue;
    const drained = new Promise((resume) => pager.stdin.once("drain", resume).once("error", resume));
    await Promise.race([drained, ended]);
  }
  pager.stdin.end();
  await ended;
}
