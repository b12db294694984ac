import * as z from "zod/mini";
import { type ChosenCheck, chooseChecks } from "../flows/verify/choose-checks.ts";
import { type CheckPlace, choosePlaces, committedPolicy } from "../flows/verify/choose-places.ts";
import { addPart, madeNow } from "../judge/change.ts";
import { runOf } from "../judge/current-run.ts";
import { hasNotRun, whyNotRun } from "../judge/not-run.ts";
import { getOwnTask } from "../judge/own-task.ts";
import { oneTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { parsePartRef } from "../model/ids.ts";
import { flag, line, many, maybe, raw, taskField } from "../model/input.ts";
import { type Evidence, evidence } from "../model/records/parts.ts";
import { testsNothing } from "../model/tests-nothing.ts";
import { columns, commandLine, firstLine } from "../model/text.ts";
import type { Effect, Situation } from "../ports/operation.ts";
import type { CheckRun } from "../ports/ports.ts";
import { operation } from "./operation.ts";
import { noSlice } from "./slice-close.ts";
import { evidenceRow } from "./task-show.ts";

export const verify = operation({
  id: "verify",
  summary: "Run a check and record what happened, bound to the exact tree it ran on",
  details:
    "Pawl runs the command itself, shows its output, and records the exit code, time, digest and last lines. It\nruns in the task's worktree, wherever you are; --repo picks a repository when the task has several. With --red\nthe command must fail: a red that passes is refused. Without a command it runs the checks in\n.pawl/config.yaml as the task's base has them. A command that could not start (126, 127, or a toolchain that says so itself) is reported\nand proves nothing. Checks get no terminal, and the tools of the shell from which a human installed pawl;\n`env:` in the policy adds variables. Exit code 0 when the result is the wanted one, else 1.",
  examples: [
    "pawl verify -- npm test",
    "pawl verify --slice S1 --red -- npx vitest run test/upload.test.ts",
    "pawl verify",
    "pawl verify T0001 --repo my-project",
  ],
  access: "write",
  cli: { positional: ["task"], rest: "command" },
  input: z.strictObject({
    task: taskField(),
    slice: maybe(line("the slice it proves", "S", 40)),
    red: flag("it must fail now"),
    check: many(line("only this check of the config", "NAME")),
    repo: maybe(line("only in this repository of the task", "REPO", 60)),
    command: many(raw("the command to run, after --", "CMD"), 100_000),
  }),

  async rehearse(world, input, at, reader) {
    const id = getOwnTask(reader, input.task, at);
    const places = await choosePlaces(world, reader, id, input, at);
    const chosen = await Promise.all(
      places.map(async (place) =>
        chooseChecks(place.world, input, await committedPolicy(world, reader, id, place)),
      ),
    );
    return chosen.flat().map((check) => ({ do: "run", path: commandLine(check.argv) }));
  },

  async observe(world, input, at, reader) {
    const ref = input.slice === undefined ? undefined : parsePartRef(input.slice, "S", "slice");
    const id = getOwnTask(reader, oneTask(ref?.task, input.task), at);
    const { slices } = reader.task(id).value;
    if (ref && !slices.some((one) => one.id === ref.part)) throw noSlice(id, ref.part, slices);
    const places = await choosePlaces(world, reader, id, input, at);
    const runs: Observation[] = [];
    for (const place of places) {
      const policy = await committedPolicy(world, reader, id, place);
      for (const check of await chooseChecks(place.world, input, policy))
        runs.push(await watch(place, check, policy?.config.env ?? {}));
    }
    return { id, slice: ref?.part, runs, places: places.flatMap(({ path }) => path ?? []) };
  },

  gather: (reader, _input, at, observed) => ({
    ...observed,
    names: reader.partNames(evidence, observed.id),
    inRun: runOf(reader, observed.id, at),
  }),

  decide(input, { id, slice, runs: all, names, inRun, places }) {
    if (input.red) for (const one of all) refuseFalseRed(one.run);
    const runs = all.filter((one) => !hasNotRun(one.run));
    const unheard = all.filter((one) => hasNotRun(one.run));
    if (runs.length === 0 && unheard[0]) throw notRun(unheard[0]);
    const taken = [...names];
    const effects: Effect[] = [];
    const records: Evidence[] = [];
    for (const one of runs) {
      const passed = one.run.exitCode === 0;
      const kind = input.red ? "red" : slice !== undefined && passed ? "green" : "check";
      const about = `${kind}: exit ${one.run.exitCode}`;
      const made = addPart(
        evidence,
        id,
        taken,
        (name) => ({ ...describe(name, kind, one), slice, run: inRun }),
        about,
      );
      taken.push(`${made.value.id.slice(id.length + 1)}.md`);
      effects.push(made.effect);
      records.push(made.value);
    }
    const wanted = records.every((one) => (input.red ? one.exit_code !== 0 : one.exit_code === 0));
    const [only] = records;
    // One command makes one record; the checks of the config make a list, however many they are.
    const single = only !== undefined && only.check === undefined;
    return {
      data: { evidence: single ? only : records, worktrees: places },
      effects,
      notReady: !wanted || unheard.length > 0,
      warnings: [
        ...unheard.map((one) => `${notRun(one).message} Nothing was recorded for it.`),
        ...warningsAbout(records, runs),
      ],
    };
  },

  text: ({ evidence: recorded, worktrees }, style) =>
    [
      columns(
        [recorded].flat().map((one) => {
          const [id = "", kind = "", result = "", ...rest] = evidenceRow(one);
          return [
            style.bold(id),
            kind,
            one.exit_code === 0 ? style.green(result) : style.red(result),
            ...rest,
          ];
        }),
      ),
      ...worktrees.map((path) => style.dim(`  in ${path}`)),
    ].join("\n"),
});

function warningsAbout(records: readonly Evidence[], runs: readonly Observation[]): string[] {
  const unstable = records
    .filter((one) => one.unstable)
    .map(
      (one) =>
        `${one.id}: the check changed files, or a submodule or nested repository has changes of its own; no gate will count it.`,
    );
  const idle = records
    .filter((one) => one.tests_nothing)
    .map(
      (one) =>
        `${one.id}: \`${commandLine(one.argv).slice(0, 80)}\` tests nothing, so it does not count as a required check. A project without tests says \`checks: none\` in .pawl/config.yaml.`,
    );
  const others = new Map(runs.flatMap(({ run }) => run.elsewhere).map((one) => [one.name, one]));
  const moved = [...others.values()].map(
    ({ name, used, here }) =>
      `${name} was ${used}, as in the shell that pawl was installed from; this shell would run ${here}. To use this one, a human runs here: pawl doctor --fix`,
  );
  return [...runs.flatMap(({ outvoted }) => outvoted ?? []), ...unstable, ...idle, ...moved];
}

interface Observation {
  at: Situation;
  check: string | undefined;
  /** What was run instead of this branch's own version of the check, and why. */
  outvoted: string | undefined;
  run: CheckRun;
  tree: string | undefined;
  stable: boolean;
  dirty: boolean;
  head: string | undefined;
}

/** The tree is hashed before and after: a result belongs to a tree only if the check left it alone. */
async function watch(
  { world, at, path }: CheckPlace,
  check: ChosenCheck,
  env: Readonly<Record<string, string>>,
): Promise<Observation> {
  const [tree, dirty] = [await world.workingTree(), await world.isDirty()];
  // A check of the policy means the same wherever it is asked for.
  const run = await world.runCheck(check.argv, check.name === undefined && !path ? "here" : "top", env);
  const after = await world.workingTree();
  const stable = tree?.tree === after?.tree && tree?.whole !== false && after?.whole !== false;
  return {
    at,
    check: check.name,
    outvoted: check.outvoted,
    run,
    tree: tree?.tree,
    stable,
    dirty,
    head: at.commit,
  };
}

/** The gates go by the committed policy, which only a human changes. */
const WRONG_CHECK =
  "\nIs the check itself wrong? `checks:` counts as the protected branch has it; a human changes it there: pawl unlock BRANCH --for 10m";

function notRun({ check, run }: Observation): Failure {
  const what = check === undefined ? "The command" : `The check "${check}"`;
  const said = firstLine(whyNotRun(run.tail), 160);
  return new Failure(
    "refused",
    "check_not_run",
    `${what} could not be run (exit ${run.exitCode}${said === "" ? "" : `: ${said}`}).`,
    {
      hint: `No test ran, so nothing was recorded. Install what it needs here (\`setup:\` in .pawl/config.yaml is what \`pawl start\` runs), then run this again.${check === undefined ? "" : WRONG_CHECK}`,
      details: { check, argv: run.argv, exit_code: run.exitCode, output: run.tail },
    },
  );
}

function refuseFalseRed(run: CheckRun): void {
  const command = run.argv.join(" ").slice(0, 120);
  if (run.exitCode === 0)
    throw new Failure("refused", "red_passed", `This was meant to fail, but it passed: ${command}`, {
      hint: "Write the test so that it fails without the change, then run this again.",
    });
  if (run.signal)
    throw new Failure("refused", "red_killed", `The command was killed (${run.signal}): ${command}`, {
      hint: "A red is a test that ran to its end and failed.",
    });
  if (hasNotRun(run))
    throw new Failure(
      "refused",
      "red_not_run",
      `The command could not be run (${run.exitCode}): ${command}`,
      {
        hint: "A red is a test that ran and failed. Repair the command first.",
      },
    );
}

function describe(id: string, kind: Evidence["kind"], one: Observation): Omit<Evidence, "slice" | "run"> {
  return {
    id,
    kind,
    check: one.check,
    argv: one.run.argv,
    tests_nothing: testsNothing(one.run.argv),
    programs: one.run.programs,
    environment: one.run.environment,
    exit_code: one.run.exitCode,
    duration_ms: one.run.durationMs,
    output_sha256: one.run.outputSha256,
    output_bytes: one.run.outputBytes,
    head: one.head,
    tree: one.tree,
    dirty: one.dirty,
    unstable: !one.stable,
    ...madeNow(one.at),
    output: one.run.tail,
  };
}
