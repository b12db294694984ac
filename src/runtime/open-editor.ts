import { spawn } from "node:child_process";
import { Failure } from "../core/failure.ts";

interface EditorPlace {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Opens the user's editor on a file and waits for it; VISUAL and EDITOR may carry arguments, as git's do. */
export function openEditor(file: string, place: EditorPlace): Promise<void> {
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
