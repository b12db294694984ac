import { lanesOf, outsideOf } from "../../judge/lanes.ts";
import { newFindings } from "../../judge/new-findings.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import { finding } from "../../model/records/parts.ts";
import type { Run, RunRepo } from "../../model/records/run.ts";
import { firstFew } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";

const MOST_FILES = 20;
const FIX = "Undo these changes, or have a human widen the lane: pawl lane update.";

/**
 * Files that a branch changed outside of the task's lanes become a finding, once: seen in git, and not what anybody says
 * of their own work. What was settled is not raised again.
 */
export async function tellOutOfLane(hands: Hands, value: Run): Promise<string[]> {
  const task = taskOf(value.id);
  const lanes = await hands.look((reader) => lanesOf(reader, task));
  if (lanes.length === 0) return [];
  const lane = `the lane of ${task} (${lanes.flatMap((one) => one.paths).join(", ")})`;
  const told: string[] = [];
  for (const repo of value.repos) {
    const files = outsideOf(lanes, await changedFiles(hands, repo));
    if (files.length === 0) continue;
    const text = `Changed outside ${lane}: ${firstFew(files, MOST_FILES)}.`;
    if (await raise(hands, task, repo, text)) told.push(`${text} This is now a finding.`);
  }
  return told;
}

async function raise(hands: Hands, task: string, repo: RunRepo, text: string): Promise<boolean> {
  const tip = (await hands.git.branches()).tip(repo);
  const { data } = await hands.itself().record((reader, at) => {
    const earlier = reader.parts(finding, task).records.map((one) => one.value);
    if (earlier.some((one) => one.text === text && one.repo === repo.name)) return { data: false };
    const places = [{ repo: repo.name, tip, text: undefined }];
    const known = { task, plan: "", earlier, names: reader.partNames(finding, task), places };
    const said = { text, fix: FIX, severity: "medium", kind: "branch" } as const;
    return { data: true, effects: newFindings([said], known, at).effects };
  });
  return data;
}

/** The snapshot itself reports a branch that is gone. */
async function changedFiles(hands: Hands, repo: RunRepo): Promise<string[]> {
  try {
    return await (await hands.git.branches()).changes(repo);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}
