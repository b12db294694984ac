import type { ProjectLook, Proposed } from "./kinds.ts";

const FOLDER = ".github/workflows";
/** A whole step in one line, with nothing of the server's in it. */
const STEP = /^\s*(?:-\s+)?run:\s+(['"]?)([^|>'"\n][^\n]*?)\1\s*$/gm;
const CHECKS =
  /(?:^|[\s:/])(?:tests?|check|lint|pytest|tox|nox|rspec|ctest|verify|markdownlint(?:-cli2?)?|vale|clippy|vet)\b/;
const NOT_HERE =
  /\$\{\{|\$GITHUB|\$RUNNER|\bsudo\b|\binstall\b|\bupload\b|\bdeploy\b|--(?:fix|write)\b|codecov/;

/** What the project's own CI runs, for a project that nothing else tells anything about. */
export function workflows(look: ProjectLook): Proposed | undefined {
  for (const name of [...look.list(FOLDER)].sort()) {
    if (!/\.ya?ml$/.test(name)) continue;
    const from = `${FOLDER}/${name}`;
    const steps = [...(look.read(from) ?? "").matchAll(STEP)].map(([, , command = ""]) => command);
    const wanted = steps.filter((one) => CHECKS.test(one) && !NOT_HERE.test(one));
    const lint = wanted.find((one) => /lint|vale/.test(one));
    const test = wanted.find((one) => one !== lint);
    if (!test && !lint) continue;
    const checks = { ...(test ? { test } : {}), ...(lint ? { lint } : {}) };
    return { tool: "ci", from, checks, explicit: true };
  }
  return undefined;
}
