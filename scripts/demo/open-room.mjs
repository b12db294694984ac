// `npm run demo -- --ui`: a filled project, and the page on it, in this terminal, until Ctrl-C.
import { spawn } from "node:child_process";
import { fillRoom, leaveRoom } from "./room.mjs";
import { env, folder, pawl } from "./stage.mjs";

export async function openRoom() {
  console.log(`Filling two repositories in ${folder} …`);
  const where = await fillRoom((line) => console.log(`  ${line}`));
  if (where === undefined) {
    console.log("This machine has no way to make a terminal, and an approval needs one.");
    process.exitCode = 1;
    return;
  }
  console.log(
    "\nRead T0002, leave a finding on a line, finish the review; then approve T0006: the question comes here.\n",
  );
  const words = [...pawl.slice(1), "ui", ...(process.argv.includes("--no-open") ? ["--no-open"] : [])];
  const child = spawn(pawl[0], words, { cwd: where, env, stdio: "inherit" });
  // Ctrl-C reaches the page as well; what it has begun is ended here.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  await new Promise((done) => child.on("close", done));
  leaveRoom();
}
