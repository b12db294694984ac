import type { ProjectProposal } from "../../ports/installation.ts";
import { rowsOf } from "./file-report.ts";

/** What the new `.pawl/config.yaml` says about checks, or that nobody has said anything. */
export function proposalRows({ checks, setup, from }: ProjectProposal): string[][] {
  if (checks.length === 0)
    return [["checks", "none found in this project: name yours under `checks:` in .pawl/config.yaml"]];
  const named = checks.map(({ name, command }) => `${name}: ${command}`);
  return [
    ...rowsOf("checks", [...named, `(from ${from.join(", ")}; edit them in .pawl/config.yaml)`]),
    ...(setup === undefined ? [] : [["setup", setup]]),
  ];
}
