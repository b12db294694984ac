/** The terminal that runs `pawl ui`, where questions are answered while the page keeps being served. */
export interface Terminal {
  /** The typed answer; undefined without a terminal. An empty question only finds out whether there is one. */
  ask(question: string): Promise<string | undefined>;
  /** Whether a question waits for its answer. */
  isAsking(): boolean;
  /** Withdraws the question, as if Enter had been pressed. */
  withdraw(): void;
}

export interface TerminalEnds {
  isTerminal: boolean;
  write(text: string): void;
  /** Calls back with each line that is typed. */
  onLine(hear: (line: string) => void): void;
  /** What Enter does while nothing is asked. */
  onEnter(): void;
}

/** Asks one question at a time. What is typed while nothing is asked does not answer a later question. */
export function openTerminal({ isTerminal, write, onLine, onEnter }: TerminalEnds): Terminal {
  let answer: ((line: string) => void) | undefined;
  const settle = (line: string) => {
    const waiting = answer;
    answer = undefined;
    waiting?.(line.trim());
  };
  onLine((line) => (answer ? settle(line) : onEnter()));
  return {
    async ask(question) {
      if (!isTerminal) return undefined;
      if (question === "") return "";
      if (answer) throw new Error("The terminal asks one question at a time");
      write(question);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    isAsking: () => answer !== undefined,
    withdraw() {
      if (answer) write("\n");
      settle("");
    },
  };
}

/** Turns chunks into lines; a chunk may hold several lines or half of one. */
export function lineReader(hear: (line: string) => void): (chunk: string) => void {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) hear(line);
  };
}
