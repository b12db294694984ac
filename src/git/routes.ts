import { existsSync, realpathSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { replaceFile } from "../files/durable.ts";
import { jsonIfReadable } from "../files/read.ts";
import type { Environment } from "../model/environment.ts";
import { FROM_SHELL, helperOf, localPath, plainAddress } from "../model/remote-address.ts";
import type { Route } from "../ports/remotes.ts";
import type { Site } from "../ports/sites.ts";
import { refPlaces } from "./refs.ts";
import { commonDirOf, gitDirOf, worktreesOf } from "./repository-files.ts";
import { Git } from "./run-git.ts";

/** Whoever sets one of these decides what a remote seems to say. */
const DECISIVE =
  /^(?:core\.(?:sshcommand|gitproxy)|ssh\.variant|http\.(?:.*\.)?(?:proxy|sslverify|sslcainfo|sslcapath|curloptresolve|pinnedpubkey))$/s;
const OF_A_REMOTE = /^remote\.(.*)\.(?:uploadpack|vcs|proxy)$/s;

/** The same as variables, of which a shell has them for everything it starts; each for addresses of its own kind. */
const VARIABLES: readonly { addresses: RegExp; names: readonly string[] }[] = [
  {
    addresses: /^(?:ssh|git\+ssh|ssh\+git):\/\/|^(?![a-z][a-z0-9+.-]*:\/\/)[^/]*:/i,
    names: ["GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSH_VARIANT"],
  },
  { addresses: /^git:\/\//i, names: ["GIT_PROXY_COMMAND"] },
  {
    addresses: /^(?:https?|ftps?):\/\//i,
    names: [
      ...["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
      ...["GIT_SSL_NO_VERIFY", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR"],
    ],
  },
];

const variablesFor = (address: string, env: Environment) =>
  VARIABLES.filter((one) => one.addresses.test(address))
    .flatMap((one) => one.names)
    .flatMap((name) => (env[name] ? [`${FROM_SHELL}${name}=${plainAddress(env[name])}`] : []));

/** Every remote of a repository. What git's variables set for a single command is left out: it says it to nobody else. */
export async function readRoutes(site: Site, env: Environment): Promise<Route[]> {
  const git = Git.at("shared", env, site).with({ GIT_DIR: site.commonDir });
  const lines = async (...args: string[]) => {
    const { code, out } = await git.ask(args);
    return code === 0 ? out.split("\n").filter(Boolean) : [];
  };
  const names = await lines("remote");
  if (names.length === 0) return [];
  const settings = (await git.ask(["config", "-z", "--list"])).out.split("\0").map(readSetting);
  const routes: Route[] = [];
  for (const name of names) {
    const [address = ""] = await lines("ls-remote", "--get-url", "--", name);
    const push = await lines("remote", "get-url", "--push", "--all", "--", name);
    routes.push({
      name,
      address: plainAddress(address),
      push: push.map(plainAddress),
      settings: [
        ...settings
          .filter(({ key }) => DECISIVE.test(key) || OF_A_REMOTE.exec(key)?.[1] === name)
          .map(({ key, value }) => `${key}=${plainAddress(value)}`),
        ...variablesFor(address, env),
      ],
    });
  }
  return routes;
}

/** With -z a key and its value are two lines; a key alone means yes. */
function readSetting(entry: string): { key: string; value: string } {
  const end = entry.indexOf("\n");
  return end < 0 ? { key: entry, value: "true" } : { key: entry.slice(0, end), value: entry.slice(end + 1) };
}

/** Git tries these in turn behind a path that it is given. */
const ENDINGS = ["", ".git", "/.git", ".git/.git"];

export function untrustworthy(site: Site, { address, settings }: Route): string | undefined {
  if (address === "") return "has no address";
  const helper = helperOf(address) ?? settings.find((one) => /^remote\..*\.vcs=/s.test(one))?.split("=")[1];
  if (helper !== undefined) return `is answered by the program git-remote-${helper}, not by a repository`;
  const path = localPath(address);
  if (path === undefined) return undefined;
  const places = ENDINGS.map((ending) => resolve(site.mainRoot ?? site.commonDir, path + ending));
  const there = places.filter((place) => existsSync(place));
  if (there.some((place) => statSync(place).isFile() && !place.endsWith("/.git")))
    return "is a file, such as a bundle, not a repository that can answer";
  return there.some((place) => isOwn(site, place)) ? "is this repository itself, or inside it" : undefined;
}

/** Whether anything of a repository at this place is ours: its folder, its git directory, or where it keeps its refs. */
function isOwn(site: Site, place: string): boolean {
  const own = [site.commonDir, ...worktreesOf(site).flatMap((one) => one.root ?? [])].flatMap(realPath);
  const gitDir = gitDirOf(place.replace(/\/\.git$/, "")) ?? place;
  const theirs = [place, gitDir, commonDirOf(gitDir)].flatMap((one) => [one, ...refPlaces(one)]);
  return theirs.flatMap(realPath).some((one) => own.some((folder) => isInside(folder, one)));
}

const isInside = (folder: string, path: string) => {
  const way = relative(folder, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
};

function realPath(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

const fileOf = ({ commonDir }: Site) => join(commonDir, "pawl", "remotes");

/** A file that says nothing readable remembers nothing. */
export function readRemembered(site: Site): Route[] {
  const read = jsonIfReadable<unknown>(fileOf(site));
  return Array.isArray(read) ? read.filter(isRoute) : [];
}

function isRoute(one: unknown): one is Route {
  const { name, address, push, settings } = (one ?? {}) as Partial<Record<keyof Route, unknown>>;
  const areTexts = (list: unknown) => Array.isArray(list) && list.every((item) => typeof item === "string");
  return typeof name === "string" && typeof address === "string" && areTexts(push) && areTexts(settings);
}

export function writeRemembered(site: Site, routes: readonly Route[]): void {
  if (routes.length === 0) rmSync(fileOf(site), { force: true });
  else replaceFile(fileOf(site), `${JSON.stringify(routes, null, 2)}\n`);
}
