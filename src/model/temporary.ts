import { Failure } from "./failure.ts";

/** A temporary folder that cannot be used is the machine's trouble, and can be told. */
export function explainTemporary(cause: unknown, folder: string): Failure {
  const code = (cause as { code?: string }).code ?? "unknown";
  return new Failure(
    "unavailable",
    "no_temporary_folder",
    `${folder} cannot be used for temporary files (${code}).`,
    {
      hint: "Make room there, or set TMPDIR to a folder that you may write to.",
      cause,
    },
  );
}
