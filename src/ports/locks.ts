import type { Site } from "./sites.ts";

/** Opening a protected branch for a while, and closing it again. The hooks believe what is written here. */
export interface Locks {
  /** So many seconds from now, without the fraction that the shell of the hooks could not compare. */
  later(seconds: number): string;
  open(site: Site, ref: string, until: string, record: string): void;
  /** Closes what this record opened; what another one opened stays open. */
  close(site: Site, ref: string, record: string): void;
}
