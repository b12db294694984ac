import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

export interface Mounted {
  unmount(): void;
}

/** A disk of its own with this little room, or why this machine does not allow one. */
export function mountSmallDisk(folder: string, options: string): Mounted | string {
  mkdirSync(folder, { recursive: true });
  return mount(folder, [["-t", "tmpfs", "-o", options, "tmpfs", folder]]);
}

/** Makes a folder read-only even for root, whom permissions do not stop. */
export function mountReadOnly(folder: string): Mounted | string {
  return mount(folder, [
    ["--bind", folder, folder],
    ["-o", "remount,ro,bind", folder],
  ]);
}

/** Shows a folder in another one's place. */
export const mountOver = (folder: string, place: string): Mounted | string =>
  mount(place, [["--bind", folder, place]]);

function mount(folder: string, calls: readonly string[][]): Mounted | string {
  const unmount = () => {
    execFileSync("umount", ["-l", folder], { stdio: "pipe" });
  };
  for (const [index, args] of calls.entries())
    try {
      execFileSync("mount", args, { stdio: "pipe" });
    } catch (error) {
      if (index > 0) unmount();
      return `mount is not possible here: ${(error as Error).message.trim()}`;
    }
  return { unmount };
}
