import * as z from "zod/mini";
import { confirmTyped, refuseAgents } from "../flows/human-only.ts";
import { knowRepositories } from "../flows/start/know-repositories.ts";
import { madeNow } from "../judge/change.ts";
import { Failure } from "../model/failure.ts";
import { line, maybe } from "../model/input.ts";
import { repositoryFile } from "../model/paths.ts";
import { editRecord } from "../model/record.ts";
import { type RepositoryRecord, repository, UNGUARDED } from "../model/records/run.ts";
import { quoted } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import type { Found, Site, Sites } from "../ports/sites.ts";
import { procedure } from "./operation.ts";

interface Wanted {
  path: string;
  name?: string | undefined;
  base?: string | undefined;
}

export const repoAdd = procedure({
  id: "repo.add",
  summary: "Link another repository, so that tasks may touch it and it uses this state",
  details:
    "The other repository is pointed at this state; no tracked file in it changes. Only this machine knows where it\nis; everybody who has the state knows its name.",
  examples: ["pawl repo add ../api", "pawl repo add ../web-client --name web --base master"],
  access: "write",
  cli: { positional: ["path"] },
  input: z.strictObject({
    path: line("where it is", "PATH", 4_096),
    name: maybe(line("what tasks call it (default: its folder's name)", "NAME", 60)),
    base: maybe(line("its base branch, if not the task's", "BRANCH")),
  }),

  async rehearse(hands, input) {
    const { name, found } = await find(hands, input);
    return [
      { do: "write", path: repositoryFile(name) },
      { do: "link", path: found.mainRoot ?? found.commonDir },
    ];
  },

  async perform(hands, input) {
    const { sites, name, found } = await find(hands, input);
    await confirmGuarded(hands, name, found);
    // The record comes first: running the command again completes a record without its link.
    const plan = await hands.record((reader, at) => writeRecords(reader, sites, name, input.base, at), {
      milestone: `Repository ${name} linked`,
    });
    sites.link(found, name);
    const guarded = (await hands.git.audits()).guardActive(found);
    return {
      ...plan,
      effects: [],
      warnings: guarded
        ? []
        : [`${name} is linked but not guarded: nothing stops a commit on its protected branches.`],
      next: guarded
        ? {
            command: `pawl task new "<title>" --repo ${quoted(sites.here().name)} --repo ${quoted(name)}`,
            reason: "a task that touches both",
          }
        : {
            command: `pawl install --target ${quoted(input.path)} --commit`,
            reason: `guard ${name} and equip its agents; it keeps its own checks`,
          },
    };
  },

  text: ({ repo }, style) => `${style.bold(repo.id)} is linked`,
});

async function find(hands: Hands, input: Wanted): Promise<{ sites: Sites; name: string; found: Found }> {
  const sites = await hands.git.sites();
  const found = sites.find(input.path);
  if (!found)
    throw new Failure("not_found", "not_a_repository", `"${input.path}" is not inside a git repository.`, {
      details: { field: "path" },
    });
  const name = input.name ?? found.name;
  checkName(name);
  const all = sites.all();
  if (found.home || all.some((one) => one.home && one.commonDir === found.commonDir))
    throw new Failure("usage", "own_repository", `${name} is the repository that this state belongs to.`, {
      hint: "Name another one.",
      details: { field: "path" },
    });
  const other = all.find((one) => one.name === name && one.commonDir !== found.commonDir);
  if (other)
    throw new Failure("conflict", "name_taken", `The name ${name} belongs to ${place(other)}.`, {
      hint: `pawl repo add ${quoted(input.path)} --name <another>`,
      details: { field: "name" },
    });
  const same = all.find((one) => one.commonDir === found.commonDir && one.name !== name);
  if (same)
    throw new Failure("conflict", "already_linked", `${place(found)} is already linked, as ${same.name}.`, {
      hint: `pawl repo remove ${quoted(same.name)}`,
      details: { name: same.name },
    });
  if (found.otherState !== undefined)
    throw new Failure(
      "refused",
      "has_own_state",
      `${place(found)} already has its own state: ${found.otherState}`,
      {
        hint: "Its tasks would no longer be found. Use that repository's state for both, or archive it first.",
        details: { state: found.otherState },
      },
    );
  return { sites, name, found };
}

/** A guarded repository is judged by the records it is led to: where these know nothing of it, a human says that they are the right ones. */
async function confirmGuarded(hands: Hands, name: string, found: Found): Promise<void> {
  if (found.linked || !(await hands.git.audits()).guardActive(found)) return;
  const known = await hands.look((reader) =>
    reader.repositories().records.some(({ value }) => value.id === name && value.baseline.length > 0),
  );
  if (known) return;
  await refuseAgents(hands, `point ${name}, which is guarded, at records other than its own`);
  hands.say(`${name} is guarded, and its own records are gone; these do not know its history.`);
  await confirmTyped(hands, `Type ${name} to link it anyway: `, name);
}

const place = (site: Site) => site.mainRoot ?? site.commonDir;

/** The name becomes that of files, here and on machines with other file systems. */
function checkName(name: string): void {
  if (/^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u.test(name) && !/[. ]$|\.lock$/.test(name)) return;
  throw new Failure("usage", "bad_name", `"${name}" is not a valid name for a repository.`, {
    hint: "Use letters, digits, spaces, dots, dashes and underscores, starting with a letter or digit: --name api",
    details: { field: "name" },
  });
}

function writeRecords(
  reader: Reader,
  sites: Sites,
  name: string,
  base: string | undefined,
  at: Situation,
): Plan<{ repo: RepositoryRecord }> {
  const { records } = reader.repositories();
  const home = sites.all().filter((one) => one.home);
  const effects = knowRepositories(reader, home, at);
  const stored = records.find((one) => one.value.id === name);
  if (!stored) {
    const repo = { ...madeNow(at), id: name, home: false, base_branch: base, ...UNGUARDED };
    return {
      data: { repo },
      effects: [...effects, ...knowRepositories(reader, [{ name, home: false }], at, base)],
    };
  }
  if (base === undefined || base === stored.value.base_branch)
    return { data: { repo: stored.value }, effects };
  const changes = { base_branch: base, rev: stored.value.rev + 1, updated: at.now };
  effects.push({
    do: "replace",
    record: name,
    rev: changes.rev,
    path: stored.path,
    before: stored.text,
    text: editRecord(repository, stored, changes),
    about: `base ${base}`,
  });
  return { data: { repo: { ...stored.value, ...changes } }, effects };
}
