import { join } from "node:path";
import { readInput, writeWhole } from "../files/standard-streams.ts";
import type { Answer } from "./answer.ts";
import { readCall, recogniseCaller } from "./call.ts";
import { type Agent, DIALECTS } from "./dialects.ts";
import { HANDLERS } from "./events.ts";
import { judgeUnread } from "./judge.ts";
import { openFacts } from "./place.ts";
import { printRefusal } from "./refusal.ts";

/**
 * The hook of every agent: `hook.cjs AGENT`, with what the agent says about its event on standard input. It prints an
 * answer in the agent's own form or nothing, and never fails: some agents take a failure for a refusal, others for consent.
 */
const { env } = process;
const agent = recogniseCaller(process.argv[2], env);

answer(agent)
  .then((said) => {
    const text = said ? DIALECTS[agent].print(said) : "";
    if (text !== "") writeWhole(1, Buffer.from(text, "utf8"));
  })
  .catch(() => {})
  .finally(() => {
    process.exitCode = 0;
  });

async function answer(by: Agent): Promise<Answer | undefined> {
  const now = Date.now();
  let raw = "";
  try {
    raw = readInput().toString("utf8");
    const call = readCall(by, raw, process.cwd());
    const handler = call && Object.hasOwn(HANDLERS, call.event) ? HANDLERS[call.event] : undefined;
    const program = join(__dirname, "pawl.cjs");
    if (call && handler)
      return await handler(call, { facts: openFacts(env, now, call.session), env, now, program });
    return call ? undefined : refuseUnread(raw);
  } catch {
    return refuseUnread(raw);
  }
}

/** What could not be judged is left to git's own guard; only what a human alone may do is refused even then. */
function refuseUnread(raw: string): Answer | undefined {
  if (!/PreToolUse|BeforeTool/i.test(raw)) return undefined;
  const [refusal] = judgeUnread(raw);
  return refusal && { kind: "refuse", reason: printRefusal(refusal) };
}
