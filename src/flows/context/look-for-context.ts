import { keywordsOf } from "../../judge/context/keywords.ts";
import { type Look, NO_LOOK } from "../../judge/context/look.ts";
import { filesOf, type Own, ownCount, readOwn } from "../../judge/context/own.ts";
import { findTask } from "../../judge/which-task.ts";
import { Failure } from "../../model/failure.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Reader, World } from "../../ports/ports.ts";

const RELATED_KINDS = ["task", "decision", "finding", "handoff", "note"];
const MOST_HITS = 80;
const MOST_FILES_SEARCHED = 20;

/** One search for everything: each has to compare the index with the files first, which costs more than the words. */
export async function lookAround(world: World, reader: Reader, id: string, at: Situation): Promise<Look> {
  const own = readOwn(reader, id);
  const { isDirty, changed } = await lookAtFiles(world, reader, own, at);
  const files = filesOf(own, changed).slice(0, MOST_FILES_SEARCHED);
  // The task's own records match best of all; without room for them they would crowd out the others.
  const limit = MOST_HITS + ownCount(own);
  try {
    const words = [...keywordsOf(own), ...own.task.labels, id, ...files].join(" ");
    const alike = await world.findAlike({ words, kinds: RELATED_KINDS, match: "any", limit });
    return { isDirty, changed, alike, searchProblem: undefined };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...NO_LOOK, isDirty, changed, searchProblem: error.message };
  }
}

/** What changed here says something about the task only if this is where it is worked on. */
async function lookAtFiles(world: World, reader: Reader, own: Own, at: Situation) {
  const { base_branch: base, branch, id } = own.task;
  const isHere = branch === undefined ? findTask(reader, undefined, at).id === id : branch === at.branch;
  try {
    const { committed, uncommitted } = await world.work(isHere ? base : undefined);
    const changed = isHere && base !== undefined ? [...new Set([...committed, ...uncommitted])].sort() : [];
    return { isDirty: uncommitted.length > 0, changed };
  } catch (error) {
    if (error instanceof Failure) return { isDirty: undefined, changed: [] };
    throw error;
  }
}
