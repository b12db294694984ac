import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { discover, type Place } from "../git/discover.ts";
import { hasRef } from "../git/refs.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { FETCHED_STATE_REF } from "../model/naming.ts";
import { quoted } from "../model/text.ts";
import type { Found, Site, Sites } from "../ports/sites.ts";
import { findHome, hasRecords } from "../store/home.ts";
import type { Home } from "../store/layout.ts";
import {
  homeNames,
  isHomeOf,
  pointAt,
  pointAway,
  readLinks,
  removeLink,
  repositoryName,
  writeLink,
} from "../store/links.ts";
import type { Surroundings } from "./open.ts";

/** What the remote's records call a repository; it asks git, so it is loaded only where there are such records. */
type NameOf = (place: Place, env: Environment) => string | undefined;

export async function openSites(
  around: Pick<Surroundings, "cwd" | "env">,
  place: Place,
  home: Home,
): Promise<Sites> {
  const repositories = new Set([place.commonDir, dirname(dirname(home.gitDir))]);
  const mayBePublished = [...repositories].some((one) => hasRef(one, FETCHED_STATE_REF));
  const published = mayBePublished ? (await import("../git/published-name.ts")).publishedName : undefined;
  return sitesOf(around, place, home, published);
}

function sitesOf(
  around: Pick<Surroundings, "cwd" | "env">,
  place: Place,
  home: Home,
  published: NameOf | undefined,
): Sites {
  const describe = (at: Place, isHome: boolean): Site => describeSite(at, isHome, around.env, published);
  const homePlace = isHomeOf(home, place) ? place : placeOf(dirname(dirname(home.gitDir)));
  const homeSite = homePlace && describe(homePlace, true);
  const links = () => readLinks(home).filter((link) => link.name !== homeSite?.name);
  let known: Site[] | undefined;
  const readAll = (): Site[] => [
    ...(homeSite ? [homeSite] : []),
    ...links()
      .filter((link) => link.found)
      .flatMap((link) => {
        const found = placeOf(link.commonDir);
        return found ? [{ ...describe(found, false), name: link.name }] : [];
      }),
  ];
  const all = () => {
    known ??= readAll();
    return known;
  };
  const named = (name: string) => {
    const site = all().find((one) => one.name === name);
    if (site) return site;
    // Clones of one project lie in folders of different names; its records say which names mean the project itself.
    if (homeSite && homeNames(home).includes(name)) return { ...homeSite, name };
    throw new Failure(
      "not_found",
      "no_repository",
      `This machine does not know where the repository ${name} is.`,
      {
        hint: `pawl repo add <path> --name ${quoted(name)}`,
        details: { repo: name, known: all().map((one) => one.name) },
      },
    );
  };
  return {
    all,
    named,
    here: () => describe(place, isHomeOf(home, place)),
    lost: () => links().filter((link) => !link.found),
    locate: (site, worktree) => resolve(site.mainRoot ?? site.commonDir, worktree),
    relate: (site, path) => relative(site.mainRoot ?? site.commonDir, path).replaceAll("\\", "/") || ".",
    find: (path) => find(resolve(around.cwd, path), home, describe),
    link(site, name) {
      const other = placeOf(site.commonDir);
      if (!other) throw new Error(`${site.commonDir} is no repository`);
      // First what the other one is told: a link without it is repaired by repeating the command.
      pointAt(home, other, name);
      writeLink(home, name, other.commonDir);
      known = undefined;
    },
    unlink(name) {
      const link = readLinks(home).find((one) => one.name === name);
      if (link?.found) pointAway(link.commonDir);
      removeLink(home, name);
      known = undefined;
    },
  };
}

function describeSite(place: Place, home: boolean, env: Environment, published: NameOf | undefined): Site {
  const { commonDir, mainRoot } = place;
  const ask = home && published ? () => published(place, env) : undefined;
  const name = repositoryName({ local: join(commonDir, "pawl") }, place, ask);
  return { name, home, commonDir, mainRoot };
}

const placeOf = (commonDir: string) => discover(commonDir, { GIT_DIR: commonDir });

function find(path: string, home: Home, describe: (place: Place, home: boolean) => Site): Found | undefined {
  const place = existsSync(path) ? discover(path) : undefined;
  if (!place) return undefined;
  const theirs = homeOf(place, path);
  if (!theirs) return { ...describe(place, false), linked: false, otherState: undefined };
  const linked = resolve(theirs.state) === resolve(home.state);
  const site = describe(place, linked && isHomeOf(home, place));
  const foreign = !linked && (!isHomeOf(theirs, place) || hasRecords(theirs));
  return { ...site, linked, otherState: foreign ? theirs.state : undefined };
}

/** A link to a state that is not there any more leads nowhere, and may be made anew. */
function homeOf(place: Place, path: string): Home | undefined {
  try {
    return findHome(place, path);
  } catch (error) {
    if (error instanceof Failure && (error.code === "home_missing" || error.code === "not_a_state"))
      return undefined;
    throw error;
  }
}
