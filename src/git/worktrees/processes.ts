import { sep } from "node:path";
import { pause } from "../../files/pause.ts";
import { statOf } from "../../files/proc.ts";
import { linkIfReadable, namesIfReadable, textIfReadable } from "../../files/read.ts";
import { Failure } from "../../model/failure.ts";

/** What the kernel shows of the processes that we may look at; nothing where it shows none. */
function* processes(): Generator<{ pid: number; cwd: string; words: string; environment: () => string }> {
  for (const name of namesIfReadable("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const words = textIfReadable(`/proc/${name}/cmdline`);
    if (!words) continue;
    yield {
      pid,
      words,
      cwd: linkIfReadable(`/proc/${name}/cwd`) ?? "",
      environment: () => textIfReadable(`/proc/${name}/environ`) ?? "",
    };
  }
}

export const isInside = (path: string, folder: string) => path === folder || path.startsWith(folder + sep);

/** The shell that this was typed in, and whatever that runs in. */
export function ancestors(): number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 1 && !found.includes(pid); ) {
    found.push(pid);
    pid = statOf(`/proc/${pid}`)?.parent ?? 0;
  }
  return found;
}

/** Programs whose current folder is in there, but for these. */
export function processesIn(folder: string, except: readonly number[] = []): string[] {
  return [...processes()]
    .filter(({ pid, cwd }) => isInside(cwd, folder) && !except.includes(pid))
    .map(({ pid, words }) => `${words.split("\0")[0] ?? ""} (pid ${pid})`);
}

const PATIENCE_MS = 60_000;

/**
 * A kill of ours does not end the git that we had started; it goes on to fill its folder. Nobody may touch that folder
 * before it has ended.
 */
export async function waitForGitToEnd(folder: string): Promise<void> {
  for (const started = Date.now(); ; ) {
    const busy = [...processes()].filter(({ words, environment }) => {
      const program = words.split("\0")[0] ?? "";
      return /(?:^|\/)git[\w-]*$/.test(program) && (words + environment()).includes(folder);
    });
    if (busy.length === 0) return;
    if (Date.now() - started > PATIENCE_MS)
      throw new Failure(
        "conflict",
        "start_running",
        `A git that was started earlier is still running in ${folder}.`,
        {
          hint: `Wait until it ends (pid ${busy.map((one) => one.pid).join(", ")}), and run this again.`,
          details: { path: folder },
        },
      );
    await pause(50);
  }
}
