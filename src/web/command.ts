import * as z from "zod/mini";
import { count, flag, maybe } from "../model/input.ts";
import type { Command } from "../ports/operation.ts";

export const uiCommand = {
  id: "ui",
  summary: "Open the control room in your browser: tasks, diffs, reviews, approvals",
  details:
    "Serves a page on this machine alone, as long as this command runs; Ctrl-C ends it. The link that it prints lets one browser\nin. A click approves nothing: the question comes on this terminal, or your key signs. Agents are refused.",
  examples: ["pawl ui", "pawl ui --port 24800", "pawl ui --no-open"],
  access: "read",
  input: z.strictObject({
    port: maybe(count("the port to listen on (default: always the same one for this project)", "N", 1024)),
    "no-open": flag("only print the link"),
  }),
} satisfies Command;
