import { join } from "node:path";
import { bytesOf } from "../files/read.ts";
import { Failure } from "../model/failure.ts";
import type { Home } from "./layout.ts";

/** A file that is not UTF-8 would come back changed from a rewrite, so it is refused here, before anybody edits it. */
export function readRecordText(home: Home, path: string): string {
  let bytes: Buffer;
  try {
    bytes = bytesOf(`${home.state}/${path}`);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure("unreadable", "broken_record", `${join(home.shown, path)} cannot be read (${code}).`, {
      details: { file: path },
      cause: error,
    });
  }
  const text = bytes.toString("utf8");
  if (text.includes("\uFFFD") && !Buffer.from(text, "utf8").equals(bytes))
    throw new Failure("unreadable", "broken_record", `${join(home.shown, path)} is not UTF-8 text.`, {
      hint: "Save it as UTF-8; nothing else has to change.",
      details: { file: path },
    });
  return text;
}
