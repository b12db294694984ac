import { spawnSync } from "node:child_process";

/** How a real shell would call pawl in this line. No program is found there, so that nothing is carried out. */
export function shellWords(line: string): string[] {
  const script = `pawl() { printf '%s\\0' pawl "$@" >&3; }\n${line}`;
  const { output } = spawnSync("/bin/sh", ["-c", script], {
    env: { PATH: "/nowhere" },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  return String(output[3]).split("\0").slice(0, -1);
}
