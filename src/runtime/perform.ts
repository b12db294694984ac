import { recall, remember } from "../files/cache.ts";
import { holdsOnlyInstallation } from "../judge/only-installed.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan, Procedure, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import type { Signatures } from "../ports/signatures.ts";
import { type Answer, answerOf, type RunOptions } from "./answer.ts";
import { type Runtime, readably } from "./open.ts";
import { withYaml } from "./with-yaml.ts";

// biome-ignore lint/suspicious/noExplicitAny: the registry holds procedures of every input and result
type AnyProcedure = Procedure<any, any>;

/** Runs an operation that changes the store more than once, with git in between. */
export async function perform(
  operation: AnyProcedure,
  input: unknown,
  runtime: Runtime,
  restored: string[],
  options: RunOptions,
): Promise<Answer> {
  const said = [...restored];
  const hands = handsFor(operation.id, runtime, said);
  if (options.dryRun) {
    const planned = await operation.rehearse(hands, input);
    return { data: {}, next: undefined, warnings: said, ready: true, planned };
  }
  const plan = await operation.perform(hands, input);
  const answer = answerOf(plan, said);
  if (options.key !== undefined) {
    const { keepAnswer } = await import("./write.ts");
    keepAnswer(operation.id, input, options.key, answer, runtime);
  }
  return answer;
}

/** Signed where the caller offers to, such as in a browser; else with ssh on the terminal. */
async function signaturesOf(runtime: Runtime): Promise<Signatures> {
  const own = (await import("../signatures/open.ts")).openSignatures(runtime.env);
  const sign: Signatures["sign"] = async (wish) => (await runtime.sign?.(wish)) ?? own.sign(wish);
  return { ...own, sign, demanded: runtime.onlySigned, fromPage: runtime.fromPage };
}

/** What a procedure works with; its events carry the id of the operation that they belong to. */
export function handsFor(operation: string, runtime: Runtime, said: string[]): Hands {
  const situations = new Map<string, Promise<Situation>>();
  const situation = (access: "read" | "write") => {
    const known = situations.get(access) ?? runtime.situation(access);
    situations.set(access, known);
    return known;
  };
  const look = <T>(read: (reader: Reader, at: Situation) => T, access: "read" | "write" = "read") =>
    withYaml(runtime, async () => {
      const at = await situation(access);
      return readably(() => read(runtime.reader(), at));
    });
  const hands: Hands = {
    world: runtime.world,
    git: runtime.git,
    agents: () => runtime.agents(),
    itself: () => handsFor("run", runtime.byItself(), said),
    elsewhere(folder) {
      const { world, situation: there } = runtime.at(folder);
      return { world, situation: there };
    },
    reader: () => runtime.reader(),
    situation,
    time: (later = 0) => new Date(Date.now() + later * 60_000).toISOString(),
    look,
    get agent() {
      return runtime.agent;
    },
    get agentSeen() {
      return runtime.agentSeen;
    },
    overRecords: (texts, use) => overRecords(runtime, hands, texts, use),
    ...forgetting(runtime),
    recall: (name, from) => recall(runtime.home.local, name, from),
    remember: (name, from, answer) => remember(runtime.home.local, name, from, answer),
    viewed: async () => (await import("../store/viewed.ts")).openViewed(runtime.home.local),
    signatures: () => signaturesOf(runtime),
    sha256: async (text) => (await import("../files/digest.ts")).sha256(text),
    page: (body) => runtime.page(body),
    say: (line) => runtime.say(line),
    ask: (question) => runtime.ask(question),
    async record(decide, options = {}) {
      const at: Situation = { ...(await situation("write")), now: new Date().toISOString() };
      let latest: Plan<unknown> | undefined;
      const again = () =>
        withYaml(runtime, async () => {
          latest = readably(() => decide(runtime.reader(), at));
          return latest;
        });
      const first = await again();
      if (!first.effects?.length) return first as ReturnType<typeof decide>;
      const call = {
        operation,
        input: undefined,
        situation: at,
        restored: [],
        milestone: () => options.milestone,
        phase: options.phase,
        decide: again,
      };
      const { write } = await import("./write.ts");
      const { warnings } = await write(call, first, runtime, undefined);
      const own = latest?.warnings ?? [];
      said.push(...warnings.filter((one) => !own.includes(one)));
      return latest as ReturnType<typeof decide>;
    },
  };
  return hands;
}

/** Everything is as it was but what the records say; nothing that was remembered of others counts. */
async function overRecords<T>(
  runtime: Runtime,
  hands: Hands,
  texts: ReadonlyMap<string, string | undefined>,
  use: (hands: Hands) => Promise<T>,
): Promise<T> {
  const { inFolder } = await import("./published.ts");
  const { openReader } = await import("../store/reader.ts");
  return inFolder(texts, (home) => {
    const reader = () => readably(() => openReader(home, runtime.fullYaml(), Date.now()));
    const look: Hands["look"] = (read, access = "read") =>
      withYaml(runtime, async () => {
        const at = await hands.situation(access);
        return readably(() => read(reader(), at));
      });
    return use({ ...hands, reader, look, recall: () => undefined, remember: () => {} });
  });
}

/** A state that says nothing but that pawl was installed may go without a question. */
function forgetting(runtime: Runtime): Pick<Hands, "isStateForgettable" | "forgetState"> {
  const onlyInstallation = (paths: readonly string[]) => holdsOnlyInstallation(runtime.reader(), paths);
  return {
    isStateForgettable: async () => {
      const { isForgettable } = await import("../store/state/forget-state.ts");
      return withYaml(runtime, async () => isForgettable(runtime.home, runtime.place, onlyInstallation));
    },
    forgetState: async () => {
      const { forgetState } = await import("../store/state/forget-state.ts");
      return withYaml(runtime, async () => forgetState(runtime.home, runtime.place, onlyInstallation));
    },
  };
}
