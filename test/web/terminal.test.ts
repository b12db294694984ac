import { expect, test } from "vitest";
import { Failure } from "../../src/model/failure.ts";
import { lineReader, openTerminal } from "../../src/web/terminal.ts";
import { Undertakings } from "../../src/web/undertakings.ts";

function open(isTerminal = true) {
  let hear: (line: string) => void = () => {};
  let [written, entered] = ["", 0];
  const terminal = openTerminal({
    isTerminal,
    write: (text) => {
      written += text;
    },
    onLine: (listener) => {
      hear = listener;
    },
    onEnter: () => {
      entered++;
    },
  });
  return { terminal, type: (line: string) => hear(line), written: () => written, entered: () => entered };
}

test("a line answers the question that was asked before it, and no other", async () => {
  const { terminal, type, entered, written } = open();
  type("T0001");
  expect(entered()).toBe(1);
  const answer = terminal.ask("Type T0001: ");
  expect(terminal.isAsking()).toBe(true);
  type(" T0001 ");
  expect(await answer).toBe("T0001");
  expect(written()).toBe("Type T0001: ");
  type("T0001");
  expect([entered(), terminal.isAsking()]).toEqual([2, false]);
});

test("an empty question tells whether there is a terminal, and asks nothing", async () => {
  expect(await open().terminal.ask("")).toBe("");
  expect(await open(false).terminal.ask("")).toBeUndefined();
  expect(await open(false).terminal.ask("Type T0001: ")).toBeUndefined();
});

test("lines come whole, whatever pieces they came in", () => {
  const lines: string[] = [];
  const read = lineReader((line) => lines.push(line));
  for (const piece of ["T0", "001\n\nT0002", "\n", "half"]) read(piece);
  expect(lines).toEqual(["T0001", "", "T0002"]);
});

/** An approval that asks on the terminal, as the real one does. */
function approvals() {
  const { terminal, type } = open();
  const merged: string[] = [];
  const all = new Undertakings(terminal);
  const begin = (task: string) =>
    all.begin(task, "asking", async ({ hear }) => {
      hear(`Receipt of ${task}`);
      if ((await terminal.ask(`Type ${task}: `)) !== task)
        throw new Failure("refused", "not_confirmed", "Not confirmed.");
      merged.push(task);
    });
  return { all, begin, type, merged };
}

const settled = () => new Promise((done) => setImmediate(done));

test("an approval is asked for on the page and given on the terminal, one at a time", async () => {
  const { all, begin, type, merged } = approvals();
  begin("T0001");
  expect(all.of("T0001")).toMatchObject({ state: "asking", said: "Receipt of T0001" });
  for (const task of ["T0001", "T0002"]) expect(() => begin(task)).toThrow("T0001 is already being decided.");
  expect(merged).toEqual([]);
  type("T0001");
  await settled();
  expect([merged, all.of("T0001")?.state]).toEqual([["T0001"], "done"]);
  begin("T0002");
  type("");
  await settled();
  expect(all.of("T0002")).toMatchObject({ state: "refused", refusal: { code: "not_confirmed" } });
});

test("a question that was taken back is a no", async () => {
  const { all, begin, merged } = approvals();
  begin("T0001");
  await all.withdraw("T0002");
  await settled();
  expect(all.of("T0001")?.state).toBe("asking");
  // Whoever took it back sees at once that it is over.
  await all.withdraw("T0001");
  expect([all.of("T0001")?.state, merged]).toEqual(["refused", []]);
});

test("of what an operation says at length, the page keeps the end", async () => {
  const all = new Undertakings(open().terminal);
  const ended = new Promise<void>((done) =>
    all.begin("T0001", "working", async ({ hear }) => {
      for (let line = 0; line < 30_000; line++) hear(`line ${line}\n`);
      done();
    }),
  );
  await ended;
  const said = all.of("T0001")?.said ?? "";
  expect(said.length).toBeLessThan(100_100);
  expect(said.startsWith("…")).toBe(true);
  expect(said.endsWith("line 29999\n")).toBe(true);
});
