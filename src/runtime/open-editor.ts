import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeScratch } from "../files/scratch-folder.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";

interface EditorPlace {
  cwd: string;
  env: Environment;
}

/** Lets the user edit a copy; what they saved stays there, so that no refusal can lose it. */
export async function editText(
  name: string,
  text: string,
  place: EditorPlace,
): Promise<{ text: string; kept: string }> {
  const kept = join(makeScratch("edit"), name);
  writeFileSync(kept, text);
  await openEditor(kept, place);
  let saved: Buffer;
  try {
    saved = readFileSync(kept);
  } catch (cause) {
    throw new Failure("refused", "editor_failed", "The editor left no file; nothing was changed.", {
      cause,
    });
  }
  const edited = saved.toString("utf8");
  if (!Buffer.from(edited, "utf8").equals(saved))
    throw new Failure("refused", "broken_edit", "The editor saved something that is not UTF-8 text.", {
      hint: `Nothing was changed; your text is in ${kept}.`,
      details: { kept },
    });
  if (edited === text) rmSync(join(kept, ".."), { recursive: true, force: true });
  return { text: edited, kept };
}

/** Opens the user's editor on a file and waits for it; VISUAL and EDITOR may carry arguments, as git's do. */
function openEditor(file: string, place: EditorPlace): Promise<void> {
  const editor = place.env.VISUAL || place.env.EDITOR;
  if (!editor)
    throw new Failure("usage", "no_editor", "No editor is set.", {
      hint: "Set EDITOR, for example `EDITOR=vi pawl task edit T0001`.",
    });
  return new Promise((done, fail) => {
    const refuse = (reason: string) =>
      fail(new Failure("refused", "editor_failed", `The editor "${editor}" did not finish: ${reason}.`));
    const child = spawn("sh", ["-c", `${editor} "$@"`, editor, file], {
      cwd: place.cwd,
      env: place.env,
      stdio: "inherit",
    });
    child.on("error", (cause) => refuse(cause.message));
    child.on("close", (code) => (code === 0 ? done() : refuse(`it ended with ${code}`)));
  });
}
