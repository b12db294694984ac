import type { LoggedEvent } from "../../ports/ports.ts";
import type { Breach } from "./rules.ts";

/** A record that a gate rests on, with the beginning of the sha256 of its text. */
export interface Judged {
  path: string;
  text: string;
}

/** What is written once and never changed; everything else may be edited by hand. */
const APPEND_ONLY = /\/(?:evidence|reviews)\//;
const JUDGED = /\/(?:evidence|reviews|findings)\//;

/** The log knows what was written: a record that is gone, or says something else now, was not changed by pawl. */
export function judgeIntegrity(events: readonly LoggedEvent[], records: readonly Judged[]): Breach[] {
  const latest = new Map<string, LoggedEvent>();
  for (const event of events) if (event.path && JUDGED.test(event.path)) latest.set(event.path, event);
  return [...latest].flatMap(([path, event]): Breach[] => {
    const found = records.find((one) => one.path === path);
    const id = event.record.replace(/@\d+$/, "");
    const command = `git -C .pawl/state log -p -- ${path}`;
    if (!found)
      return [
        {
          code: "record_missing",
          message: `${id} was written by ${event.actor} and is gone.`,
          record: id,
          command,
        },
      ];
    if (!APPEND_ONLY.test(path) || event.text === undefined || found.text.startsWith(event.text)) return [];
    return [
      { code: "record_altered", message: `${id} was changed after it was written.`, record: id, command },
    ];
  });
}
