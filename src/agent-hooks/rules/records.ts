import { resolve } from "node:path";
import type { Facts } from "../facts.ts";
import type { GitLine } from "../git-line.ts";
import type { Refusal } from "../refusal.ts";
import { RECORDS_RULE, RECORDS_WAY } from "./files.ts";

/** Commands that only read, whatever their options are. */
const READS =
  /^(?:|log|show|diff|status|blame|grep|shortlog|describe|cat-file|ls-files|ls-tree|rev-parse|rev-list|for-each-ref|fsck|help|version)$/;

/** The records' own repository is written by pawl alone; looking into it is free. */
export function findRecordWrite(git: GitLine, folder: string, facts: Facts): Refusal | undefined {
  const place = resolve(git.folder ?? folder);
  const project = /^(.*)[\\/]\.pawl[\\/]state(?:[\\/].*)?$/.exec(place)?.[1];
  if (project === undefined || READS.test(git.name) || !facts.spotOf(project)?.guarded) return undefined;
  return { rule: RECORDS_RULE, fact: `\`git ${git.name}\` there changes their history.`, way: RECORDS_WAY };
}
