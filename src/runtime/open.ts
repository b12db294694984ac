import type { AgentAbove } from "../files/agent-above.ts";
import { explainFileError } from "../files/durable.ts";
import { discover, type Place, taskOfWorktree } from "../git/discover.ts";
import { readTablesWith } from "../git/ref-tables.ts";
import { headOf } from "../git/refs.ts";
import { type Actor, AGENT_SIGNS, decideActor, printActor } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { printable } from "../model/printable.ts";
import type { FullYaml } from "../model/record.ts";
import type { Signature } from "../model/signature.ts";
import { firstFew } from "../model/text.ts";
import type { Agents } from "../ports/agents.ts";
import type { GitHands } from "../ports/git-hands.ts";
import type { Body, Situation } from "../ports/operation.ts";
import type { Reader, World } from "../ports/ports.ts";
import type { Wish } from "../ports/signatures.ts";
import { findHome } from "../store/home.ts";
import type { Home } from "../store/layout.ts";
import { repositoryName } from "../store/links.ts";
import { openReader } from "../store/reader.ts";
import { isComplete, isLost } from "../store/state/is-complete.ts";
import { callerIn } from "./caller.ts";
import { openGitHands } from "./git-hands.ts";
import { openWorld } from "./world.ts";

export interface Surroundings {
  cwd: string;
  env: Environment;
  /** Who the caller claims to be; an agent that is recognised stays that agent. */
  actor?: string | undefined;
  /** The agent at the other end of a connection, where its environment does not tell; then nobody is taken for a human. */
  agent?: Actor | undefined;
  /** The agents that this process descends from, as far as the guard of a run. */
  above?(isGuard: (run: string, pid: number) => boolean): AgentAbove[];
  /** The ids of all operations, for a doctor who reads what the skills tell agents to call. */
  operations: readonly string[];
  /** Stops a check that is running; then nothing is recorded. */
  signal?: AbortSignal | undefined;
  /** Long-lived processes may let V8 optimise; a command that ends at once must not wait for it. */
  oneShot: boolean;
  /** Where the output of a running check goes while it runs. */
  progress(chunk: Buffer): void;
  /** Whether there is a terminal, or a page that was opened on one; a process without may have left an agent's family. */
  attended?(): boolean;
  /** What a human types on the terminal; undefined when there is none. Nothing else may answer. */
  ask?(question: string): Promise<string | undefined>;
  /** Signs in another way than with ssh on the terminal, such as in a browser; undefined leaves it to ssh. */
  sign?(wish: Wish): Promise<Signature | undefined>;
  /** The page asked for it: events and approvals say so. Whoever is asked to confirm it still answers on the terminal. */
  fromPage?: boolean | undefined;
  /** The answer comes from the page, so that it is worth nothing without a signature. */
  onlySigned?: boolean | undefined;
  /** Shows something long to that human. */
  page?(body: Body): Promise<void>;
}

/** Everything an operation needs of one repository, opened lazily: a read command touches nothing it does not use. */
export interface Runtime {
  place: Place;
  readonly home: Home;
  world: World;
  env: Environment;
  reader(): Reader;
  situation(access: "read" | "write"): Promise<Situation>;
  loadYaml(): Promise<FullYaml>;
  fullYaml(): FullYaml | undefined;
  /** Brings a deleted state folder back from its history, before anybody reads it as empty. */
  restoreLostState(): Promise<string[]>;
  /** Makes the state ready for a write; says so in words if that was news. */
  prepareState(): Promise<string[]>;
  /** Says in words what is missing since the commit before. */
  commitState(message: string): Promise<string[]>;
  git: GitHands;
  agents(): Promise<Agents>;
  /** The same repository or another one, seen from this folder; and by pawl itself, whoever runs this process. */
  at(folder: string): Runtime;
  byItself(): Runtime;
  /** The agent whose environment this is. */
  agent: string | undefined;
  /** How that is known. */
  agentSeen: string | undefined;
  say(line: string): void;
  page(body: Body): Promise<void>;
  ask(question: string): Promise<string | undefined>;
  sign: Surroundings["sign"];
  fromPage: boolean;
  onlySigned: boolean;
}

export function openRuntime(around: Surroundings): Runtime {
  readTablesWith(around.env);
  const place = readably(() => discover(around.cwd, around.env));
  if (!place)
    throw new Failure("not_found", "not_a_repository", `${around.cwd} is not inside a git repository.`, {
      hint: "cd to your project, or make this folder one with `git init`; then run `pawl install`.",
    });
  let home = readably(() => findHome(place, around.cwd));
  let fullYaml: FullYaml | undefined;
  const caller = callerIn(around, () => home, place.commonDir);
  const runtime: Runtime = {
    place,
    env: around.env,
    get home() {
      return home;
    },
    world: openWorld(around, place, () => runtime),
    reader: () => readably(() => openReader(home, fullYaml, Date.now())),
    async situation(access) {
      const head = headOf(place) ?? (await repositoryOf(around, place)).head();
      const begun = Date.now();
      return {
        // Put into words when it is asked for: the first time is when a process reads about time zones.
        get now() {
          return new Date(begun).toISOString();
        },
        actor: access === "read" ? "" : await actorOf(around, place, caller().agent),
        how: around.fromPage ? "web" : undefined,
        get minds() {
          return caller().minds();
        },
        repo: repositoryName(home, place),
        run: around.env.PAWL_RUN || undefined,
        bound: taskOfWorktree(place.gitDir),
        ...(await head),
        clone: home.clone,
        sha256: access === "read" ? readsNeedNoDigest : (await import("../files/digest.ts")).sha256,
      };
    },
    async loadYaml() {
      fullYaml ??= (await import("../model/markdown/full-yaml.ts")).fullYaml;
      return fullYaml;
    },
    fullYaml: () => fullYaml,
    restoreLostState: async () => (isLost(home) ? runtime.prepareState() : []),
    async prepareState() {
      if (isComplete(home)) return [];
      const { prepareState } = await import("../store/state/prepare-state.ts");
      const said = prepareState(home, place, around.env);
      home = findHome(place, around.cwd);
      return said;
    },
    commitState: (message) => commitRecords(home, around.env, message),
    get agent() {
      return caller().name;
    },
    get agentSeen() {
      return caller().seen;
    },
    git: openGitHands(around, place, () => home),
    agents: async () => (await import("./agent-hands.ts")).openAgentHands(around, place, home),
    at: (folder) => openRuntime({ ...around, cwd: folder }),
    byItself: () => openRuntime({ ...around, ...PAWL_ITSELF, env: withoutActor(around.env) }),
    ...dialogueOf(around),
  };
  return runtime;
}

/** How a person hears of what is done, answers and signs. */
const dialogueOf = (
  around: Surroundings,
): Pick<Runtime, "say" | "page" | "ask" | "sign" | "fromPage" | "onlySigned"> => ({
  say: (line) => around.progress(Buffer.from(`${printable(line)}\n`)),
  page: async (body) => around.page?.(body),
  ask: async (question) => around.ask?.(printable(question)),
  sign: around.sign,
  fromPage: around.fromPage ?? false,
  onlySigned: around.onlySigned ?? false,
});

async function commitRecords(home: Home, env: Environment, message: string): Promise<string[]> {
  const { commitState } = await import("../store/state/state-repository.ts");
  const { sweep } = await import("../store/transaction.ts");
  const gone: string[] = [];
  const repo = { state: home.state, gitDir: home.gitDir, env };
  await commitState(repo, message, undefined, (paths) => gone.push(...paths));
  sweep(home, Date.now());
  return wordsAbout(gone, home);
}

function wordsAbout(gone: readonly string[], home: Home): string[] {
  if (gone.length === 0) return [];
  return [
    `Records were deleted from ${home.shown}: ${firstFew(gone, 3)}. To restore them: pawl doctor --fix`,
  ];
}

/** What is written down at the end of a run is nobody's word but pawl's. */
const PAWL_ITSELF = {
  actor: undefined,
  fromPage: false,
  agent: { kind: "agent", name: "pawl", session: undefined },
  above: () => [],
} as const;

const withoutActor = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => name !== "PAWL_ACTOR" && !AGENT_SIGNS.includes(name)),
  );

/** Loading the cryptography costs a read command a tenth of its time, and no read has a use for it. */
function readsNeedNoDigest(): never {
  throw new Error("A reading operation asked for a digest");
}

/** What the system refuses to let us read is told as that, and not as a bug of ours. */
export function readably<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw explainFileError(error, "The state could not be read");
  }
}

async function repositoryOf(around: Surroundings, place: Place) {
  return (await import("../git/repository.ts")).openRepository(place, around.env);
}

async function actorOf(around: Surroundings, place: Place, agent: Actor | undefined): Promise<string> {
  const { env, actor: claimed } = around;
  const needsGit = !agent && !claimed && !env.PAWL_ACTOR;
  const gitUser = needsGit ? await (await repositoryOf(around, place)).userName() : undefined;
  const { actor, warning } = decideActor({ env, agent, claimed, gitUser });
  if (warning) around.progress(Buffer.from(`note: ${warning}\n`));
  return printActor(actor);
}
