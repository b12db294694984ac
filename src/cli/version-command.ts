import * as z from "zod/mini";
import { VERSION } from "../model/version.ts";
import type { OwnCommand } from "./commands.ts";

const input = z.strictObject({});

export const version: OwnCommand<typeof input, { version: { pawl: string; node: string } }> = {
  id: "version",
  summary: "Which pawl this is, and which Node runs it",
  details: "`pawl --version` prints the number alone.",
  examples: ["pawl version", "pawl version --json"],
  access: "read",
  input,
  answer: () => ({ data: { version: { pawl: VERSION, node: process.versions.node } } }),
  text: ({ version: { pawl, node } }) => `pawl ${pawl} (Node ${node})`,
};
