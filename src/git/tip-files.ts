import { join } from "node:path";

/**
 * Where the guard keeps what it last saw a protected branch at. Slashes make folders, and the guard can make none without
 * starting a program; no ref may have a tilde.
 */
export const tipFile = (commonDir: string, ref: string) =>
  join(commonDir, "pawl", "tips", ref.slice("refs/heads/".length).replaceAll("/", "~"));
