import type { SearchSource } from "./types.ts";

/** Up to this many files a scan is so cheap that every query makes one. */
export const ALWAYS_SCANNED_FILES = 2_000;
/** Above it, scanning may take one hundredth of the time. */
const SCAN_SHARE = 100;
/** A file this young may be rewritten without a visible difference where the file system's clock is coarse. */
const SETTLED_MS = 2_000;
/** A signature that no file has, so that the next scan looks at the file again. */
export const UNSETTLED = "";

export interface Scan {
  at: number;
  tookMs: number;
}

/** Every file as one scan found it, and a cursor from before that scan. */
interface Sight {
  cursor: string;
  scan: Scan;
  found: Map<string, string>;
}

export function isScanDue(files: number, lastScan: Scan, now: number): boolean {
  const isAlwaysScanned = files <= ALWAYS_SCANNED_FILES;
  return isAlwaysScanned || now < lastScan.at || now - lastScan.at > SCAN_SHARE * lastScan.tookMs;
}

export function lookAtFiles(source: SearchSource, now: number): Sight {
  const cursor = source.cursor();
  const started = performance.now();
  const found = source.scan();
  return { cursor, found, scan: { at: now, tookMs: performance.now() - started } };
}

export function settled(signature: string, now: number): string {
  return now - Number.parseFloat(signature) < SETTLED_MS ? UNSETTLED : signature;
}
