const EVENT_LOG = /^events\/[^/]+\/[^/]+\.jsonl$/;

export const isEventLog = (path: string) => EVENT_LOG.test(path);

/** The path in a log's line, so that only wanted lines are parsed. */
export const pathIn = (line: string) => /"path":"([^"]*)"/.exec(line)?.[1] ?? "";
