import * as z from "zod/mini";
import { refuseAgents } from "../flows/human-only.ts";
import { findRun } from "../judge/current-run.ts";
import { Failure } from "../model/failure.ts";
import { line } from "../model/input.ts";
import { LIVE } from "../model/lifecycle.ts";
import type { Hands } from "../ports/hands.ts";
import type { Sites } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

export const repoRemove = procedure({
  id: "repo.remove",
  summary: "Unlink a repository on this machine, so that it uses its own state again",
  details:
    "Deletes nothing: neither the repository nor any record about it. Refused to agents, and while a task is active\nin it. `pawl repo add` links it again.",
  examples: ["pawl repo remove api"],
  access: "write",
  cli: { positional: ["name"] },
  input: z.strictObject({ name: line("its name", "NAME", 60) }),

  async rehearse(hands, input) {
    await checkRemovable(hands, input.name);
    return [{ do: "unlink", path: input.name }];
  },

  async perform(hands, input) {
    const sites = await checkRemovable(hands, input.name);
    sites.unlink(input.name);
    return { data: { repo: { id: input.name, linked: false } } };
  },

  text: ({ repo }, style) => `${style.bold(repo.id)} is no longer linked`,
});

async function checkRemovable(hands: Hands, name: string): Promise<Sites> {
  await refuseAgents(hands, "unlink a repository");
  const sites = await hands.git.sites();
  const linked = [...sites.all().filter((one) => !one.home), ...sites.lost()];
  if (!linked.some((one) => one.name === name))
    throw new Failure("not_found", "no_repository", `No repository called ${name} is linked here.`, {
      hint: linked.length === 0 ? "None is." : `Linked: ${linked.map((one) => one.name).join(", ")}.`,
      details: { field: "name" },
    });
  const busy = await hands.look((reader) =>
    reader
      .current()
      .tasks.filter((task) => LIVE.includes(task.status))
      .filter((task) => findRun(reader, task.id)?.value.repos.some((one) => one.name === name)),
  );
  const [first] = busy;
  if (first)
    throw new Failure("refused", "repository_in_use", `${first.id} is at work in ${name}.`, {
      hint: `pawl finish ${first.id} --keep --reason "…"`,
      details: { tasks: busy.map((one) => one.id) },
    });
  return sites;
}
