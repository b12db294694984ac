/** The variables of a process, as they were handed to us. */
export type Environment = Readonly<Record<string, string | undefined>>;
