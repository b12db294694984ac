import { Failure } from "../../model/failure.ts";
import { protectedPatterns } from "../../model/protection.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Installation, ProjectProposal, SurfaceRequest } from "../../ports/installation.ts";
import type { Site } from "../../ports/sites.ts";
import { rowsOf } from "./file-report.ts";
import { notHere } from "./proposal-rows.ts";
import { ALLOW, type InstallInput, namesIn, VENDOR } from "./request.ts";

/** The questions of a first install; a flag answers its question in advance, and Enter takes the default. */
export async function askChoices(
  hands: Hands,
  { installation, site }: { installation: Installation; site: Site },
  request: SurfaceRequest,
  input: InstallInput,
): Promise<SurfaceRequest> {
  if (installation.installed()) return request;
  hands.say("Enter takes the value in brackets. Nothing is written before the last question.");
  const agents = input.agents === undefined ? await askAgents(hands, installation) : request.agents;
  const proposal = installation.proposal();
  const policy = proposal && (await askPolicy(hands, site, proposal, request.profile === "all"));
  const flags = [...request.flags];
  if (!flags.includes(VENDOR) && installation.package !== undefined && (await no(hands, ABOUT_VENDOR)))
    flags.push(VENDOR);
  if (input.with === undefined && agents.includes("claude") && (await no(hands, ABOUT_ALLOWING)))
    flags.push(ALLOW);
  return { ...request, agents, flags, ...(policy ? { policy } : {}) };
}

const ABOUT_VENDOR = "Keep the package itself in .pawl/vendor, so that clones and CI need no registry";
const ABOUT_ALLOWING = "Let Claude Code run pawl's read and record commands without asking each time";

async function askAgents(hands: Hands, { known }: Installation): Promise<readonly string[]> {
  const found = await foundHere(hands, known.agents);
  const here = found.length > 0 ? found.join(", ") : "none yet; Enter takes the three most used";
  hands.say(`Agents: ${known.agents.join(", ")}. On this machine: ${here}.`);
  return ask(hands, `For which agents [${known.usual.join(",")}]: `, (typed) =>
    typed === "" ? known.usual : namesIn(typed, "agents", known.agents),
  );
}

async function foundHere(hands: Hands, names: readonly string[]): Promise<string[]> {
  const agents = await hands.agents();
  return names.filter((name) => {
    if (!agents.known.includes(name)) return false;
    try {
      agents.find(name, undefined, undefined);
      return true;
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
  });
}

async function askPolicy(
  hands: Hands,
  site: Site,
  { checks, setup, from, missing }: ProjectProposal,
  guarded: boolean,
): Promise<NonNullable<SurfaceRequest["policy"]>> {
  const named = rowsOf(
    `Checks, from ${from.join(", ")}:`,
    checks.map(({ name, command }) => `${name}: ${command}`),
  );
  for (const [word, line] of named) hands.say([word, line].filter(Boolean).join(" "));
  if (missing.length > 0) hands.say(`Missing: ${notHere(missing)}.`);
  if (checks.length === 0) hands.say("No checks were found; you can name yours in .pawl/config.yaml.");
  const policy = {
    checks: checks.length === 0 || (await yes(hands, "Require them for every task")),
    setup: setup === undefined || (await yes(hands, `Run \`${setup}\` in every new worktree`)),
    ...(guarded ? await askProtected(hands, site) : {}),
  };
  const ceremony = await ask(
    hands,
    "How much process a new task needs: light (checks), standard (and a review), strict (and a reviewed plan) [standard]: ",
    (typed) => ["", "light", "standard", "strict"].find((one) => one === typed),
  );
  return { ...policy, ...(ceremony === "" ? {} : { profile: ceremony }) };
}

async function askProtected(hands: Hands, site: Site): Promise<{ protected?: string[] }> {
  const { defaultBranch } = await (await hands.git.audits()).branching(site, "own");
  const usual = protectedPatterns(undefined, [], defaultBranch);
  const named = await ask(hands, `Protected branches [${usual.join(", ")}]: `, (typed) => {
    const names = typed.split(/[\s,]+/).filter(Boolean);
    return names.every(isBranch) ? names : undefined;
  });
  return named.length === 0 ? {} : { protected: named };
}

/** A name or a pattern that git would take for a branch. */
const isBranch = (name: string) =>
  /^[\p{L}\p{N}_*?][\p{L}\p{N}_*?./@+#-]*$/u.test(name) && !/\.\.|\/$|\.lock$/.test(name);

const yes = (hands: Hands, question: string) => ask(hands, `${question} [Y/n]: `, answer(true));
const no = (hands: Hands, question: string) => ask(hands, `${question} [y/N]: `, answer(false));

const answer = (usual: boolean) => (typed: string) =>
  typed === "" ? usual : /^y(?:es)?$/i.test(typed) ? true : /^no?$/i.test(typed) ? false : undefined;

const PATIENCE = 5;

/** What was not understood is asked for again. */
async function ask<T>(hands: Hands, question: string, read: (typed: string) => T | undefined): Promise<T> {
  for (let tries = 0; tries < PATIENCE; tries++) {
    const typed = (await hands.ask(question))?.trim();
    if (typed === undefined) break;
    const value = understood(read, typed);
    if (value !== undefined) return value;
    hands.say(`"${typed.slice(0, 40)}" is not an answer to that.`);
  }
  throw notConfirmed();
}

function understood<T>(read: (typed: string) => T | undefined, typed: string): T | undefined {
  try {
    return read(typed);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

export const notConfirmed = () =>
  new Failure("refused", "not_confirmed", "Not confirmed; nothing was changed.", {
    hint: "To do it without a question: pawl install --yes",
  });
