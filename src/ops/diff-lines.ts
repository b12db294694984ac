import * as z from "zod/mini";
import { getTask } from "../judge/which-task.ts";
import { line, maybe, raw, taskField } from "../model/input.ts";
import { plural } from "../model/text.ts";
import { chosen, savedRun } from "./diff.ts";
import { procedure } from "./operation.ts";

/** A whole file of a saved diff, for whoever wants to read around the changes. */
export const diffLines = procedure({
  id: "diff.lines",
  summary: "Print the lines of a file as a saved diff's commit has them",
  examples: ["pawl diff lines T1 --repo my-project --path src/a.ts"],
  access: "read",
  internal: true,
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    run: maybe(line("what was saved of this run (default: the latest that saved anything)", "R", 40)),
    repo: line("the repository of the file", "NAME"),
    path: raw("the file", "FILE"),
  }),

  rehearse: async () => [],

  async perform(hands, input) {
    const { value } = await hands.look((reader, at) =>
      savedRun(reader, getTask(reader, input.task, at), input.run),
    );
    const [git, sites] = [await hands.git.snapshots(), await hands.git.sites()];
    const [snapshot] = chosen(value, input.repo);
    const site = sites.all().find((one) => one.name === input.repo);
    const lines = site && snapshot && (await git.lines(site, snapshot, input.path));
    return { data: { lines: lines ?? [] } };
  },

  text: ({ lines }) => plural(lines.length, "line"),
});
