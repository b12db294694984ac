import { diffViewed } from "../../ops/diff-viewed.ts";
import type { Response } from "../exchange.ts";
import { fieldsOf } from "../fields.ts";
import type { View } from "./view.ts";

/** A viewed mark, set or taken back by the script of the diff. */
export const markViewed: View = async ({ ask, parts, request }) => {
  const { repo, path, digest, commit, seen } = fieldsOf(request.body);
  await ask(diffViewed, { task: parts.task, repo, path, digest, commit, undo: seen !== "true" });
  return NOTHING;
};

const NOTHING: Response = { status: 204, headers: {}, body: "" };
