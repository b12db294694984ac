/** The terminal that runs `pawl ui`: the one place where a question can be answered while the page goes on being served. */
export interface Terminal {
  /** What is typed in answer; undefined when there is no terminal. An empty question only tells whether there is one. */
  ask(question: string): Promise<string | undefined>;
  /** Whether a question waits for its answer. */
  isAsking(): boolean;
  /** Takes the question back, as if nothing had been typed. */
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

/** One question at a time; whatever is typed while nothing is asked answers nothing later. */
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

/** Lines out of pieces that may hold several or half of one. */
export function lineReader(hear: (line: string) => void): (chunk: string) => void {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) hear(line);
  };
}
