import { madeNow } from "../../judge/change.ts";
import { repositoryFile } from "../../model/paths.ts";
import { printRecord } from "../../model/record.ts";
import { repository, UNGUARDED } from "../../model/records/run.ts";
import type { Effect, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

interface Known {
  name: string;
  home: boolean;
}

/** Repositories that work is done in are known to everybody who has the state, by a record each. */
export function knowRepositories(
  reader: Reader,
  sites: readonly Known[],
  at: Situation,
  baseBranch?: string,
): Effect[] {
  const { records, problems } = reader.repositories();
  return sites
    .filter((site) => !records.some((one) => one.value.id === site.name))
    .filter((site) => !problems.some((one) => one.file === repositoryFile(site.name)))
    .filter((site) => repository.fields.id.read(site.name).ok)
    .map(({ name, home }) => ({
      do: "create",
      record: name,
      rev: 1,
      path: repositoryFile(name),
      text: printRecord(repository, {
        ...madeNow(at),
        id: name,
        home,
        base_branch: baseBranch,
        ...UNGUARDED,
      }),
      about: home ? "the home of the state" : "linked",
    }));
}
