import { existsSync, rmSync } from "node:fs";
import { relative, resolve } from "node:path";
import { replaceFile } from "../files/durable.ts";
import { jsonIfReadable, lineIfReadable, namesIfPresent, textIfPresent } from "../files/read.ts";
import type { Place } from "../git/discover.ts";
import { quickValue } from "../model/markdown/front-matter.ts";
import { repository } from "../model/records/run.ts";
import { ownState } from "./home.ts";
import { type Home, LOCAL } from "./layout.ts";

/**
 * The repositories of one state, as this machine knows them: a line per repository, beside the state, that says where
 * its git directory is; and in each of them a line that says where the state is, and what the repository is called.
 */
const linksDir = (home: Home) => `${home.state}/${LOCAL}/repos`;

/** The name it was given when it was linked, or has in the files of the project or in published records, or else its folder's. */
export function repositoryName(
  home: Pick<Home, "local">,
  place: Pick<Place, "name" | "mainRoot">,
  published?: () => string | undefined,
): string {
  return lineIfReadable(`${home.local}/name`) ?? trackedName(place) ?? published?.() ?? place.name;
}

/** A clone in a folder of another name is the same repository: the ledger of what is installed says what it is called. */
function trackedName({ mainRoot }: Pick<Place, "mainRoot">): string | undefined {
  if (mainRoot === undefined) return undefined;
  const name = jsonIfReadable<{ repository?: unknown }>(`${mainRoot}/.pawl/lock.json`)?.repository;
  return typeof name === "string" && repository.fields.id.read(name).ok ? name : undefined;
}

/** Keeps the name when the folder is renamed later: records name the repository by it. */
export function keepName(
  home: Home,
  place: Pick<Place, "commonDir" | "mainRoot" | "name">,
  published: () => string | undefined,
): void {
  if (!isHomeOf(home, place) || lineIfReadable(`${home.local}/name`) !== undefined) return;
  replaceFile(`${home.local}/name`, `${repositoryName(home, place, published)}\n`);
}

/** Every name that the home of the state has gone by, in this clone or another. */
export function homeNames(home: Home): string[] {
  const folder = `${home.state}/repos`;
  return namesIfPresent(folder)
    .filter(
      (name) =>
        name.endsWith(".md") && quickValue(textIfPresent(`${folder}/${name}`) ?? "", "home") === "true",
    )
    .map((name) => name.slice(0, -".md".length));
}

/** Whether the state belongs to this repository, and was not only lent to it by a link: both its places say so. */
export function isHomeOf(home: Home, place: Pick<Place, "commonDir" | "mainRoot">): boolean {
  return (
    resolve(home.gitDir) === resolve(place.commonDir, "pawl/state.git") &&
    resolve(home.state) === resolve(ownState(place))
  );
}

interface Link {
  name: string;
  commonDir: string;
  /** False when its folder was moved or deleted. */
  found: boolean;
}

export function readLinks(home: Home): Link[] {
  return namesIfPresent(linksDir(home))
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => {
      const path = lineIfReadable(`${linksDir(home)}/${name}`);
      if (path === undefined) return [];
      const commonDir = resolve(home.state, path);
      return [{ name, commonDir, found: existsSync(`${commonDir}/HEAD`) }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function writeLink(home: Home, name: string, commonDir: string): void {
  replaceFile(`${linksDir(home)}/${name}`, `${relative(home.state, commonDir)}\n`);
}

export function removeLink(home: Home, name: string): void {
  rmSync(`${linksDir(home)}/${name}`, { force: true });
}

/** Points another repository at this state, under a name. */
export function pointAt(home: Home, other: Pick<Place, "commonDir">, name: string): void {
  const local = `${other.commonDir}/pawl`;
  replaceFile(`${local}/name`, `${name}\n`);
  replaceFile(`${local}/home`, `${relative(local, home.state)}\n`);
}

/** Lets a repository find its own state again, if it has one. */
export function pointAway(commonDir: string): void {
  const local = `${commonDir}/pawl`;
  // The name last: without a state of its own a name says nothing.
  for (const file of ["home", "name"]) rmSync(`${local}/${file}`, { force: true });
}
