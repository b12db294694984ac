import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { textIfReadable } from "../files/read.ts";
import { HOOK_RAN, mayBegin, noteBeginning } from "../files/sessions.ts";
import { notedBy, readStatus } from "../git/strays.ts";
import { type Actor, sessionVariable } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import type { Reading } from "../model/mail.ts";
import type { Answer } from "./answer.ts";
import type { HookCall } from "./call.ts";
import type { Agent } from "./dialects.ts";
import { checkRunIn, MAY_BE_CHECK, offerWords } from "./evidence-offer.ts";
import type { Facts, Spot } from "./facts.ts";
import { beforeCompaction, beforeStopping, needsHandoff } from "./handoff-reminder.ts";
import { CONCERNS, judgeScript, judgeUnread, judgeWrites, LONGEST } from "./judge.ts";
import { beginWatching, newStrays, straysWords, type Watched } from "./main-checkout.ts";
import { type Marks, openMarks, sweepMarks } from "./marks.ts";
import { nearestExisting } from "./place.ts";
import { printRefusal, type Refusal } from "./refusal.ts";
import { sessionBudget, startText } from "./session-start.ts";
import type { Script } from "./shell/command.ts";
import { readPlain } from "./shell/plain.ts";
import { readScript } from "./shell/read.ts";
import { heldRun, unreadAtStop, unreadWords } from "./unread-mail.ts";
import { findWorkplace, lookAtWork } from "./work.ts";

interface Around {
  facts: Facts;
  env: Environment;
  now: number;
  /** The program beside this hook. */
  program: string;
}

type Handler = (call: HookCall, around: Around) => Promise<Answer | undefined>;

/** What is done at each event; others are none of our business. */
export const HANDLERS: Readonly<Record<string, Handler>> = {
  SessionStart: atStart,
  PreToolUse: beforeTool,
  PostToolUse: afterTool,
  PreCompact: beforeCompacting,
  Stop: atStop,
};

async function beforeTool(call: HookCall, around: Around): Promise<Answer | undefined> {
  for (const refusal of await refusalsFor(call, around.facts))
    if (!(await isLifted(refusal, around.env))) return { kind: "refuse", reason: printRefusal(refusal) };
  return undefined;
}

async function refusalsFor(call: HookCall, facts: Facts): Promise<Refusal[]> {
  const { command, folder } = call;
  if (command === undefined) return judgeWrites(call, facts);
  if (!CONCERNS.test(command)) return [];
  const script = await read(command, folder);
  return script ? judgeScript(command, folder, script, facts) : judgeUnread(command);
}

async function read(command: string, folder: string): Promise<Script | undefined> {
  if (command.length > LONGEST) return undefined;
  const plain = readPlain(command, folder);
  if (plain) return plain;
  const { parser } = await import("./shell/parser.ts");
  return readScript(command, resolve(folder), parser);
}

async function isLifted({ unlessScratch }: Refusal, env: Around["env"]): Promise<boolean> {
  if (unlessScratch === undefined) return false;
  const { askIsScratch } = await import("./ask.ts");
  return askIsScratch(unlessScratch, nearestExisting(dirname(unlessScratch)), env);
}

async function atStart(call: HookCall, { facts, env, now, program }: Around): Promise<Answer | undefined> {
  const spot = facts.spotOf(call.folder);
  if (!spot) return undefined;
  await beginSession(call, spot, now);
  sweepMarks(spot.commonDir, now);
  await beginWatching({ spot, session: call.session, env, now });
  const { askPawl } = await import("./ask.ts");
  const known = { agent: call.agent, guarded: spot.guarded, launcher: launcherIn(spot.root ?? "") };
  const args = ["session", "--budget", String(sessionBudget(known))];
  const session = askPawl(program, args, call.folder, { ...env, ...sessionSigns(call) });
  return { kind: "tell", event: "SessionStart", text: startText({ ...known, session }) };
}

/** A resumed or compacted session goes on; what it did before still wants a handoff. */
async function beginSession(call: HookCall, spot: Spot, now: number): Promise<void> {
  const { agentsAround } = await import("./ask.ts");
  const begins: Actor = { kind: "agent", name: AGENT_NAMES[call.agent], session: call.session || undefined };
  if (mayBegin(begins, agentsAround(spot))) noteBeginning(spot.commonDir, begins, now);
  const marks = openMarks(spot.commonDir, call.session);
  if (!marks.has(HOOK_RAN)) marks.add(HOOK_RAN);
}

/** Whose session it is, for hooks that some agents start without what they give to their shell. */
function sessionSigns({ agent, session }: HookCall): Environment {
  const name = sessionVariable(AGENT_NAMES[agent]);
  return name === undefined || session === "" ? {} : { [name]: session };
}

/** What records call the agents that start our hook. */
const AGENT_NAMES: Readonly<Record<Agent, string>> = {
  claude: "claude-code",
  codex: "codex",
  copilot: "copilot",
  gemini: "gemini",
  opencode: "opencode",
  cursor: "cursor",
};

/** A worktree whose base was installed by pawl 0.1.0 has the launcher of that version. */
function launcherIn(root: string): string {
  const [ours, older] = [".pawl/pawl.cjs", ".pawl/pawl.mjs"];
  return !existsSync(join(root, ours)) && existsSync(join(root, older)) ? older : ours;
}

async function afterTool(call: HookCall, { facts, env, now }: Around): Promise<Answer | undefined> {
  const { command } = call;
  if (command === undefined) return undefined;
  const spot = facts.spotOf(call.folder);
  if (!spot?.guarded) return undefined;
  const strays = await newStrays({ spot, session: call.session, env, now });
  const said = [
    ...(strays.length === 0 ? [] : [wordsAbout(strays, spot, call.session)]),
    ...(await evidenceOffer(command, call, spot)),
  ];
  return said.length === 0 ? undefined : { kind: "tell", event: "PostToolUse", text: said.join("\n") };
}

const wordsAbout = (strays: readonly string[], spot: Spot, session: string) =>
  straysWords(strays, spot.mainRoot ?? "", findWorkplace(spot, session)?.task);

async function evidenceOffer(command: string, call: HookCall, spot: Spot): Promise<string[]> {
  const policy = textIfReadable(join(spot.root ?? "", ".pawl", "config.yaml")) ?? "";
  if (!MAY_BE_CHECK.test(command) && !policy.includes(command.trim())) return [];
  const script = await read(command, call.folder);
  const check = script && checkRunIn(script, policy);
  if (check === undefined) return [];
  const marks = openMarks(spot.commonDir, call.session);
  const mark = `offered ${check.slice(0, 200)}`;
  const isNews = !marks.has(mark) && findWorkplace(spot, call.session) && marks.add(mark);
  return isNews ? [offerWords(check)] : [];
}

/** Every time: each summary is all that the next stretch knows. */
async function beforeCompacting(call: HookCall, { facts, env }: Around): Promise<Answer | undefined> {
  const spot = facts.spotOf(call.folder);
  if (!spot?.guarded) return undefined;
  const work = await workSince(spot, call, openMarks(spot.commonDir, call.session), env);
  return work && { kind: "before compaction", text: beforeCompaction(work) };
}

async function atStop(call: HookCall, { facts, env, now }: Around): Promise<Answer | undefined> {
  const spot = facts.spotOf(call.folder);
  if (call.stoppedBefore || !spot?.guarded) return undefined;
  const marks = openMarks(spot.commonDir, call.session);
  if (marks.began === undefined) return undefined;
  const strays = await straysAtStop({ spot, session: call.session, env, now }, marks);
  const work = marks.has(STOPPED) ? undefined : await workSince(spot, call, marks, env);
  const asksHandoff = work && needsHandoff(work) && marks.add(STOPPED);
  const reasons = [
    ...(strays.length === 0 ? [] : [wordsAbout(strays, spot, call.session)]),
    ...mailAtStop(spot, call, marks, env),
    ...(asksHandoff ? [beforeStopping(work)] : []),
  ];
  return reasons.length === 0 ? undefined : { kind: "go on", reason: reasons.join("\n") };
}

/** Once: whoever does not want to read it now is not kept from ending. */
function mailAtStop(spot: Spot, call: HookCall, marks: Marks, env: Around["env"]): string[] {
  const mark = "told at stop of mail";
  const reading = readingOf(spot, call, env);
  if (reading === undefined || marks.has(mark)) return [];
  const unread = unreadAtStop(spot, reading);
  return unread.length > 0 && marks.add(mark) ? [unreadWords(reading.task, unread)] : [];
}

/** What `pawl run` started knows its run; other sessions have the task whose worktree they work in. */
function readingOf(spot: Spot, { session }: HookCall, env: Around["env"]): Reading | undefined {
  if (env.PAWL_RUN && env.PAWL_TASK) return { task: env.PAWL_TASK, run: env.PAWL_RUN };
  const task = findWorkplace(spot, session)?.task;
  return task === undefined ? undefined : { task, run: heldRun(spot, task) };
}

const STOPPED = "reminded at stop";

/** All that is astray, once; and whatever a command has changed since. */
async function straysAtStop(watched: Watched, marks: Marks): Promise<string[]> {
  const fresh = await newStrays(watched);
  const all = notedBy(watched.spot.commonDir, watched.session);
  if (all.length === 0) return [];
  const { askMainStatus } = await import("./ask.ts");
  const status = askMainStatus(watched.spot.mainRoot ?? "", watched.env);
  const left = readStatus(status ?? "").files.filter((file) => all.includes(file));
  const mark = "told at stop what is astray";
  if (left.length === 0 || (fresh.length === 0 && marks.has(mark))) return [];
  return marks.add(mark) ? left : [];
}

async function workSince(spot: Spot, call: HookCall, { began = 0 }: Marks, env: Around["env"]) {
  const place = findWorkplace(spot, call.session);
  if (!place) return undefined;
  const { askChangedPaths } = await import("./ask.ts");
  return lookAtWork(spot, place, began, askChangedPaths(place.root, env));
}
