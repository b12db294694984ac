import type { AgentProgram } from "../program.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { ownCommand } from "./own-command.ts";

/** The programs whose streams we can read. */
export const KNOWN_PROGRAMS: readonly AgentProgram[] = [claude, codex, copilot];

/** The program behind an attempt, for everybody who reads its stream later. */
export const programOf = (spec: { program: string | undefined; agent: string }): AgentProgram =>
  KNOWN_PROGRAMS.find((one) => one.name === spec.program) ?? ownCommand(spec.agent, []);
