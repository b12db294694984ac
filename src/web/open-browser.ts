import { spawn } from "node:child_process";
import type { Environment } from "../model/environment.ts";

export function openBrowser(link: string, env: Environment): void {
  const [program, args] =
    process.platform === "darwin"
      ? ["open", [link]]
      : process.platform === "win32"
        ? ["explorer", [link]]
        : ["xdg-open", [link]];
  const child = spawn(program as string, args as string[], {
    env: { ...env },
    stdio: "ignore",
    detached: true,
  });
  // Without a browser the link is there to be copied.
  child.on("error", () => {});
  child.unref();
}
