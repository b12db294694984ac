import { expect, test } from "vitest";
import { progressOn } from "../../src/cli/progress.ts";
import { waitingLine } from "../../src/model/waiting.ts";

function told(terminal: boolean, lines: readonly string[]): string {
  let out = "";
  const say = progressOn({
    err: (chunk) => {
      out += chunk.toString("utf8");
    },
    errIsTerminal: () => terminal,
  });
  for (const line of lines) say(Buffer.from(`${line}\n`));
  return out;
}

const waits = (most: number) =>
  Array.from({ length: most }, (_, at) => waitingLine("git push origin", at + 1, ", Writing objects 40%"));

test("on a terminal the seconds of one wait are one line", () => {
  const out = told(true, ["Pushing main …", ...waits(3), "Done", ...waits(1)]);
  const [first, second, third] = waits(3);
  const up = "\u001b[1A\u001b[2K";
  expect(out).toBe(`Pushing main …\n${first}\n${up}${second}\n${up}${third}\nDone\n${first}\n`);
});

test("a log gets fewer and fewer of them, and everything else", () => {
  const seconds = [...told(false, [...waits(20), "Done", "Done"]).matchAll(/(\d+) s,|Done/g)];
  expect(seconds.map((one) => one[1] ?? one[0])).toEqual(["1", "2", "4", "8", "16", "Done", "Done"]);
});
