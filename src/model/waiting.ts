/** For how long something outside has not answered yet, as one line; `stage` is what git says about how far it is. */
export const waitingLine = (what: string, seconds: number, stage: string): string =>
  `${what}: ${seconds} s${stage}`;

/** Whether this is such a line, which the next one makes out of date. */
export const isWaiting = (line: string): boolean =>
  /^(?:git \S+|still running) [^\n]*: \d+ s(?:, [^\n]*)?\n?$/.test(line);
