import { lstatSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

/** What lies at a path of the repository, before anything is decided about it. */
export interface Look {
  /** As adapters and the ledger name it. */
  path: string;
  /** Where its bytes really are, past links; inside the repository. */
  real: string;
  /** The bytes; undefined when there is no such file. */
  bytes: Buffer | undefined;
  /** The same as text; undefined when it is none in UTF-8. */
  text: string | undefined;
  /** Folders that would have to be made for it, the outermost first. */
  missing: string[];
  /** Why nothing can be written there, in words that follow the path. */
  blocked: string | undefined;
}

/** Looks at a path without following any link out of the repository, into git's own folder or into another repository. */
export function lookAt(root: string, path: string): Look {
  const top = realpathSync(root);
  const names = path.split("/");
  const look: Look = { path, real: path, bytes: undefined, text: undefined, missing: [], blocked: undefined };
  let folder = top;
  for (const [index, name] of names.entries()) {
    const last = index === names.length - 1;
    const found = follow(top, join(folder, name));
    if (typeof found === "string") return { ...look, blocked: found };
    if (!found) {
      const rest = names.slice(index, -1).map((_, at) => names.slice(index, index + at + 1).join("/"));
      const below = inside(top, folder);
      const real = [below, ...names.slice(index)].filter(Boolean).join("/");
      return { ...look, real, missing: rest.map((one) => [below, one].filter(Boolean).join("/")) };
    }
    const { at, stat } = found;
    if (last) return readAt(look, top, at, stat);
    if (!stat.isDirectory()) {
      const shown = names.slice(0, index + 1).join("/");
      return { ...look, blocked: `needs a folder where ${shown} is a file` };
    }
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false }))
      return { ...look, blocked: `belongs to the repository in ${inside(top, at)}` };
    folder = at;
  }
  return look;
}

const inside = (top: string, path: string) => relative(top, path).split(sep).join("/");

/** The thing itself, past a link; words when it must not be touched, undefined when there is none. */
function follow(top: string, path: string): { at: string; stat: Stats } | string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (!stat.isSymbolicLink()) return { at: path, stat };
  let at: string;
  try {
    at = realpathSync(path);
  } catch {
    return "is behind a link that points nowhere";
  }
  const to = inside(top, at);
  if (to === "" || to.startsWith("../") || to === ".." || /^(?:[A-Za-z]:|\/)/.test(to))
    return "is behind a link that points out of the repository";
  if (to === ".git" || to.startsWith(".git/")) return "is behind a link into git's own folder";
  // A link may lead into another repository that lies inside this one.
  for (let folder = dirname(at); folder !== top && folder.startsWith(top); folder = dirname(folder))
    if (lstatSync(join(folder, ".git"), { throwIfNoEntry: false }))
      return `belongs to the repository in ${inside(top, folder)}`;
  return { at, stat: lstatSync(at) };
}

function readAt(look: Look, top: string, at: string, stat: Stats): Look {
  if (stat.isDirectory()) return { ...look, blocked: "is a folder" };
  if (!stat.isFile()) return { ...look, blocked: "is not an ordinary file" };
  let bytes: Buffer;
  try {
    bytes = readFileSync(at);
  } catch (error) {
    return { ...look, blocked: `cannot be read (${(error as NodeJS.ErrnoException).code})` };
  }
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text, "utf8").equals(bytes);
  return { ...look, real: inside(top, at), bytes, text: isText ? text : undefined };
}
