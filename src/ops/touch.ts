import * as z from "zod/mini";
import { change, madeNow } from "../judge/change.ts";
import { getOwnTask } from "../judge/own-task.ts";

import { line, some, taskField } from "../model/input.ts";
import { touchedFile } from "../model/paths.ts";
import { printRecord, type Stored } from "../model/record.ts";
import { type Touched, touched } from "../model/records/parts.ts";
import { plural } from "../model/text.ts";
import { operation } from "./operation.ts";

/** Enough to see where the work is; older ones fall off the end. */
const MOST = 200;

export const touch = operation({
  id: "touch",
  summary: "Note which files are being worked on for a task",
  examples: ["pawl touch src/upload.ts test/upload.test.ts"],
  access: "write",
  cli: { positional: ["files"] },
  input: z.strictObject({
    files: some(line("a file, as git names it", "FILE", 4_096)),
    task: taskField(),
  }),

  gather(reader, input, at) {
    const id = getOwnTask(reader, input.task, at);
    reader.task(id);
    return { id, stored: reader.touchedBy(id, at.clone) as Stored<typeof touched> | undefined };
  },

  decide(input, { id, stored }, at) {
    const files = [...new Set([...input.files, ...(stored?.value.files ?? [])])].slice(0, MOST);
    const about = plural(input.files.length, "file");
    if (stored) {
      const { effect, value } = change(touched, stored, { files }, at, about);
      return { data: { touched: value }, effects: [effect] };
    }
    const value: Touched = { id: `${id}/touched/${at.clone}`, files, ...madeNow(at) };
    const path = touchedFile(id, at.clone);
    return {
      data: { touched: value },
      effects: [{ do: "create", record: value.id, rev: 1, path, text: printRecord(touched, value), about }],
    };
  },

  text: ({ touched: value }) => plural(value.files.length, "file"),
});
