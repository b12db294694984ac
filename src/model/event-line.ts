const EVENT_LOG = /^events\/[^/]+\/[^/]+\.jsonl$/;

export const isEventLog = (path: string) => EVENT_LOG.test(path);

/** What the line of a log is about: a cheap look before the dear one. */
export const pathIn = (line: string) => /"path":"([^"]*)"/.exec(line)?.[1] ?? "";
