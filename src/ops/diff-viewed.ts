import * as z from "zod/mini";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { flag, line, maybe, raw, taskField } from "../model/input.ts";
import { plural } from "../model/text.ts";
import { procedure } from "./operation.ts";

export const diffViewed = procedure({
  id: "diff.viewed",
  summary: "Mark a file of a saved diff as viewed, or list the viewed ones",
  examples: ["pawl diff viewed T1"],
  access: "read",
  internal: true,
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    repo: maybe(line("the repository of the file", "NAME")),
    path: maybe(raw("the file", "FILE")),
    digest: maybe(line("what was viewed: the sha256 of its part of the patch", "SHA256", 64)),
    commit: maybe(line("the saved commit that it was part of", "COMMIT", 64)),
    undo: flag("take the mark back"),
  }),

  async rehearse() {
    return [];
  },

  async perform(hands, { task, repo, path, digest, commit, undo }) {
    const id = await hands.look((reader, at) => getTask(reader, task, at));
    const viewed = await hands.viewed();
    if (path !== undefined && repo !== undefined) {
      if (undo) viewed.unmark(id, { repo, path });
      else viewed.mark(id, { repo, path, digest: digest ?? missing("digest"), commit });
    }
    return { data: { viewed: viewed.of(id) } };
  },

  text: ({ viewed }) => `${plural(viewed.length, "file")} looked at`,
});

function missing(field: string): never {
  throw new Failure("usage", "missing_field", `A mark needs --${field}.`, { details: { field } });
}
