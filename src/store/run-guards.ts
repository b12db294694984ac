import { lineIfReadable, namesIfReadable } from "../files/read.ts";
import { type Home, runsDir } from "./layout.ts";

/** Whether this process is the guard of a run that pawl started: what descends from it is that run's own agent. */
export function isRunGuard(home: Home, run: string, pid: number): boolean {
  if (!/^T\d+\/R\d+$/.test(run)) return false;
  const folder = `${runsDir(home)}/${run.replace("/", ".")}`;
  return namesIfReadable(folder).some(
    (attempt) => lineIfReadable(`${folder}/${attempt}/started/pid`) === String(pid),
  );
}
