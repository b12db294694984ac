export const pause = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms));

let sleeper: Int32Array | undefined;

/** The whole process waits: nothing else of it runs meanwhile. */
export function pauseSync(ms: number): void {
  sleeper ??= new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(sleeper, 0, 0, ms);
}
