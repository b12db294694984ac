import type { ProjectProposal } from "../../ports/installation.ts";
import { rowsOf } from "./file-report.ts";

const PACKED =
  "npm would publish these files with yours: name what belongs to the package under `files` in package.json, or leave them out in .npmignore";

/** What the new `.pawl/config.yaml` says about checks, or that nobody has said anything. */
export function proposalRows({ checks, setup, from, packed }: ProjectProposal): string[][] {
  const published = packed ? [["package", PACKED]] : [];
  if (checks.length === 0)
    return [
      [
        "checks",
        "none found in this project: name yours under `checks:` in .pawl/config.yaml, or say `checks: none`",
      ],
      ...published,
    ];
  const named = checks.map(({ name, command }) => `${name}: ${command}`);
  return [
    ...rowsOf("checks", [...named, `(from ${from.join(", ")}; edit them in .pawl/config.yaml)`]),
    ...(setup === undefined ? [] : [["setup", setup]]),
    ...published,
  ];
}
