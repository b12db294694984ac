import type { Role } from "../../model/records/attempt.ts";

/** One repository of a task, as whoever works in it has to know it. */
export interface WorkplaceFacts {
  repo: string;
  path: string;
  branch: string;
  base: string;
  /** The tip of the task's branch; undefined where it is gone. */
  head: string | undefined;
  isDirty: boolean | undefined;
  files: readonly string[];
}

export interface PacketFacts {
  task: string;
  run: string;
  role: Role;
  places: readonly WorkplaceFacts[];
  /** What is known about the task, within a budget. */
  context: string;
  /** The message from whoever starts it. */
  message: string | undefined;
  /** What an earlier attempt left behind, for an agent that cannot continue its conversation. */
  left: string | undefined;
  /** What others have written to it. */
  mail: string | undefined;
}

const MOST_FILES = 40;

/** Everything that an agent reads when it starts: its role, its place, what is known, and how to end. */
export function packetText(facts: PacketFacts): string {
  const { places, context, message, left, mail } = facts;
  return [
    DUTIES[facts.role](facts.task),
    places.length === 0 ? "" : `## Where you work (${facts.run})\n\n${places.map(placeText).join("\n")}`,
    context,
    left === undefined ? "" : `## What the attempt before this one left\n\n${left}`,
    mail === undefined ? "" : `## Mail\n\n${mail}`,
    message === undefined ? "" : `## What you were told\n\n${message}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

function placeText({ repo, path, branch, base, head, isDirty, files }: WorkplaceFacts): string {
  const state = isDirty === undefined ? "" : isDirty ? ", with uncommitted changes" : ", clean";
  const shown = files.slice(0, MOST_FILES).map((file) => `  - ${file}`);
  const more = files.length > MOST_FILES ? [`  - … and ${files.length - MOST_FILES} more`] : [];
  return [
    `- ${repo}: ${path}, branch ${branch} at ${head?.slice(0, 12) ?? "no commit"}${state}; it returns to ${base}`,
    ...(files.length > 0 ? ["  changed so far:", ...shown, ...more] : []),
  ].join("\n");
}

const UNATTENDED = "You run unattended: nobody can answer a question.";
const RECORDS =
  "Only a human merges. Record with `pawl` (its MCP tools, or the command) as you go; what is not recorded did not happen.";
const COMMON = `${UNATTENDED} Work only in the folders named below, and only on the branches named there. ${RECORDS}`;

const WHO: Readonly<Record<Role, (task: string) => string>> = {
  author: (task) => `You are the author of ${task}.`,
  fixer: (task) => `You fix what a reviewer found in ${task}.`,
  reviewer: (task) => `You review ${task}.`,
  manager: (task) => `You manage ${task}.`,
  conductor: (task) => `You conduct ${task}.`,
};

const DUTIES: Readonly<Record<Role, (task: string) => string>> = {
  author: (task) =>
    `${WHO.author(task)} ${COMMON}\n\nFollow the skill incremental-implementation: small steps, each with a check that \`pawl verify\` ran, each committed. Before you end, run \`pawl check ${task} --stage close\`, settle what is yours to settle, and leave a \`pawl handoff\`: what was done, what was not, and the next step. If you cannot continue, say why in the handoff and stop.`,
  fixer: (task) =>
    `${WHO.fixer(task)} ${COMMON}\n\nFollow the skill auto-fix: one finding at a time, the worst first, each fixed by a commit of its own and settled with \`pawl finding resolve\`. Change nothing that no finding asks for. Run the project's checks with \`pawl verify\`, then leave a \`pawl handoff\`.`,
  reviewer: (task) =>
    `${WHO.reviewer(task)} ${COMMON}\n\nYou can read but not change anything. Follow the skill branch-review: begin with \`pawl review start\`, read every changed file, record each problem with \`pawl finding add\` (file, line, severity), and end with \`pawl review record\`: the verdict, what you looked at, and the commit you looked at.`,
  manager: (task) =>
    `${WHO.manager(task)} ${UNATTENDED} ${RECORDS}\n\nYou can read and delegate but not change anything yourself: no shell, no edits, no subagents. Follow the skill manage: plan, one task for each part, \`pawl run\` for each, read the report of every run that ends, \`pawl run settle\` it, and leave a \`pawl handoff\`. You are done when \`pawl check ${task} --stage manage\` says so; a run that ends before that has failed.`,
  conductor: WHO.conductor,
};

/** What an agent is told when it does another part of the work in the same conversation. */
export function nextPartText(facts: {
  run: string;
  task: string;
  role: Role;
  message: string | undefined;
}): string {
  const told = facts.message === undefined ? "" : `\n\n${facts.message}`;
  return `${DUTIES[facts.role](facts.task)}\n\nYou know this work from before; the folders are the same, and this is ${facts.run} now.${told}\n`;
}

/**
 * What an agent is told when it resumes its own conversation. The text has to make sense alone: a program
 * that was killed before it saved its first message has lost the packet.
 */
export function resumeText(facts: {
  run: string;
  task: string;
  message: string | undefined;
  reason: string;
  role: Role;
  /** How the runs that it started stand now. */
  children: readonly string[];
  mail: string | undefined;
}): string {
  const look = facts.role === "manager" ? "`pawl session`" : "`git status` and `pawl session`";
  const begun = `${WHO[facts.role](facts.task)} You were ${facts.reason} in ${facts.run}. Begin with ${look}, which says what the task is and where it stands: your last command may have been cut off, and you may not remember everything. Then continue, and leave a \`pawl handoff\` before you end.`;
  const started =
    facts.children.length === 0
      ? undefined
      : `The runs you started continued without you. Their state:\n\n${facts.children.map((one) => `- ${one}`).join("\n")}`;
  const mail = facts.mail === undefined ? undefined : `Mail came meanwhile:\n\n${facts.mail}`;
  return `${[begun, started, mail, facts.message].filter((part) => part !== undefined).join("\n\n")}\n`;
}
