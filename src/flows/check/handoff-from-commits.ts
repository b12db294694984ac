import { addPart, madeNow } from "../../judge/change.ts";
import { getRun } from "../../judge/current-run.ts";
import type { GateResult } from "../../judge/gates/gate.ts";
import { evidence, type Handoff, handoff } from "../../model/records/parts.ts";
import { firstLine, plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

const MOST_FILES = 100;

/** What the commits say for themselves, where nobody has written down more; marked as such. */
export async function handOffFromCommits(hands: Hands, gate: GateResult): Promise<Handoff> {
  const [sites, targets] = [await hands.git.sites(), await hands.git.targets()];
  const changed = gate.repos.filter((one) => one.changed);
  const several = changed.length > 1;
  const what: string[] = [];
  const files: string[] = [];
  for (const repo of changed) {
    const site = sites.named(repo.name);
    const { commits, total } = await targets.story(site, repo.base, repo.head);
    const subjects = commits.map((one) => firstLine(one.subject, 200)).reverse();
    what.push(`${several ? `${repo.name}: ` : ""}${plural(total, "commit")}: ${subjects.join("; ")}`);
    const paths = await targets.changedSince(site, repo.base, repo.head);
    files.push(...paths.map((path) => (several ? `${repo.name}: ${path}` : path)));
  }
  const trees = new Set(changed.map((one) => one.tree));
  const said = { what: what.join("\n"), changed: files.slice(0, MOST_FILES) };
  const { data } = await hands.record((reader, at) => record(reader, at, gate.task, trees, said), {
    milestone: `${gate.task}: handoff from the commits`,
  });
  return data;
}

function record(
  reader: Reader,
  at: Situation,
  task: string,
  trees: ReadonlySet<string>,
  said: Pick<Handoff, "what" | "changed">,
): Plan<Handoff> {
  const proofs = reader
    .parts(evidence, task)
    .records.map((one) => one.value)
    .filter((one) => one.tree !== undefined && trees.has(one.tree));
  const validation = proofs.map(
    (one) => `${one.id}: ${one.check ?? firstLine(one.argv.join(" "), 80)}: exit ${one.exit_code}`,
  );
  const { effect, value } = addPart(
    handoff,
    task,
    reader.partNames(handoff, task),
    (id): Handoff => ({
      id,
      run: getRun(reader, task).value.id,
      automatic: false,
      from_commits: true,
      changed: said.changed,
      validation,
      children: [],
      ...madeNow(at),
      what: said.what,
      blocker: "",
      next: `A human decides: pawl approve ${task}`,
    }),
    "written from the commits",
  );
  return { data: value, effects: [effect] };
}
