import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { lineIfReadable } from "../files/read.ts";

/** A protected branch that a human has opened for a while. */
export interface OpenBranch {
  branch: string;
  minutesLeft: number;
}

const FOLDER = "pawl/grants/unlock/refs/heads";

export function openBranches(commonDir: string, now = Date.now()): OpenBranch[] {
  const folder = join(commonDir, FOLDER);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const until = Number((lineIfReadable(join(folder, name)) ?? "").split(" ")[0]) * 1000;
    return until > now
      ? [{ branch: name.replaceAll("\\", "/"), minutesLeft: Math.ceil((until - now) / 60_000) }]
      : [];
  });
}

export const tellOpen = ({ branch, minutesLeft }: OpenBranch) =>
  `${branch} is unlocked for ${minutesLeft} more minute${minutesLeft === 1 ? "" : "s"}: anything that moves it until then counts as done by a human. To close it: pawl unlock ${branch} --end`;
