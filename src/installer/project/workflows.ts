import type { ProjectLook, Proposed } from "./kinds.ts";

const FOLDER = ".github/workflows";
/** A whole step in one line, with nothing of the server's in it. */
const RUN = /^\s*(?:-\s+)?run:\s+(['"]?)([^|>'"\n][^\n]*?)\1\s*$/m;
/** Where a step is run, if not at the top; a path that needs no quotes. */
const FOLDER_OF_STEP = /^\s*(?:-\s+)?working-directory:\s*(['"]?)([\w./-]+)\1\s*$/m;
const STEP_BEGINS = /^(?=\s*-\s+[\w-]+:)/m;
const CHECKS =
  /(?:^|[\s:/])(?:tests?|check|lint|pytest|tox|nox|rspec|ctest|verify|markdownlint(?:-cli2?)?|vale|clippy|vet)\b/;
const NOT_HERE =
  /\$\{\{|\$GITHUB|\$RUNNER|\bsudo\b|\binstall\b|\bupload\b|\bdeploy\b|--(?:fix|write)\b|codecov/;

/** What the project's own CI runs, for a project that nothing else tells anything about. */
export function workflows(look: ProjectLook): Proposed | undefined {
  for (const name of [...look.list(FOLDER)].sort()) {
    if (!/\.ya?ml$/.test(name)) continue;
    const from = `${FOLDER}/${name}`;
    const steps = (look.read(from) ?? "").split(STEP_BEGINS).flatMap(stepIn);
    const wanted = steps.filter((one) => CHECKS.test(one) && !NOT_HERE.test(one));
    const lint = wanted.find((one) => /lint|vale/.test(one));
    const test = wanted.find((one) => one !== lint);
    if (!test && !lint) continue;
    const checks = { ...(test ? { test } : {}), ...(lint ? { lint } : {}) };
    return { tool: "ci", from, checks, explicit: true };
  }
  return undefined;
}

function stepIn(text: string): string[] {
  const command = RUN.exec(text)?.[2];
  const folder = FOLDER_OF_STEP.exec(text)?.[2];
  if (command === undefined) return [];
  return [folder === undefined || /^\.\/?$/.test(folder) ? command : `cd ${folder} && ${command}`];
}
