/** Launches one attempt, as a command that a user typed would: `node chaos-worker.cjs <json>`. Killed at random. */
import { openAgents } from "../../src/agents/open.ts";
import { Failure } from "../../src/model/failure.ts";

export interface ChaosPlace {
  runs: string;
  project: string;
  supervisor: string;
  /** What supervisors start at the end, in place of the program. */
  program: string;
}

export interface ChaosLaunch extends ChaosPlace {
  run: string;
  command: string[];
}

export function agentsAt({ runs, project, supervisor, program }: ChaosPlace) {
  return openAgents(runs, () => ({
    ...{ runs, project, supervisor, program, commonDir: project },
    ...{ env: process.env, node: process.execPath },
  }));
}

export async function launch(job: ChaosLaunch): Promise<string> {
  const agents = agentsAt(job);
  const now = await agents.settle(job.run);
  if (now && now.state !== "ended") return "refused";
  try {
    const number = (now?.number ?? 0) + 1;
    await agents.launch({
      ...{
        run: job.run,
        number,
        task: "T0001",
        agent: "stand-in",
        role: "author",
        model: undefined,
        runner: undefined,
      },
      settings: { name: "stand-in", command: job.command, model: undefined, args: [], prices: undefined },
      limits: { time: 600, idle: undefined, cost: undefined, turns: undefined, log: 50_000_000 },
      ...{ claimed: false, prompt: "", cwd: job.project, gitDirs: [], resume: undefined },
      before: { input: 0, cached: 0, output: 0 },
    });
    return `launched ${number}`;
  } catch (error) {
    if (error instanceof Failure && error.code === "run_open") return "refused";
    throw error;
  }
}

if (process.argv[2]) launch(JSON.parse(process.argv[2])).then((said) => process.stdout.write(said));
