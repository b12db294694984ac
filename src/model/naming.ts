import { Failure } from "./failure.ts";

/** A branch's name has to be a file's name, on every system, and short enough for one with `.lock` behind it. */
const LONGEST_SLUG = 40;

/** The title in letters that branches and folders may have; a title without any gives none. */
export function slugOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
  const cut = words.slice(0, LONGEST_SLUG + 1);
  const whole = cut.length > LONGEST_SLUG ? cut.replace(/-[^-]*$/, "") || cut.slice(0, LONGEST_SLUG) : cut;
  return whole.replace(/^-+|-+$/g, "");
}

/** Fills a template such as `task/{id}-{slug}`; without a slug its separator goes as well. */
export function fillTemplate(template: string, task: { id: string; title: string }): string {
  const slug = slugOf(task.title);
  const filled = template
    .replace(/([-_./]?)\{slug\}/g, (_all, separator: string) => (slug === "" ? "" : separator + slug))
    .replaceAll("{id}", task.id);
  if (template.includes("{id}")) return filled;
  throw new Failure("usage", "bad_template", `The template "${template}" of .pawl/config.yaml has no {id}.`, {
    hint: "Two tasks would get the same name. Write it like this: task/{id}-{slug}",
    details: { template },
  });
}

/**
 * A folder of its own below a hidden one, or beside the project: it is hidden from git as a whole, so it must not be one
 * that the project may want, and it must not be anywhere that git or pawl keeps something.
 */
export function isPlainWorktree(path: string): boolean {
  const parts = path.split("/");
  const inside = parts[0] === ".." ? parts.slice(1) : parts;
  return (
    inside.length > 0 &&
    inside.every((part) => /^[\w.@+-][\w.@+ -]*$/.test(part) && part !== "." && part !== "..") &&
    (parts[0] === ".." || (inside.length > 1 && /^\./.test(inside[0] ?? ""))) &&
    ![".git", ".pawl"].includes(inside[0] ?? "")
  );
}

/** What git allows as a branch, and what no shell, file system or other tool stumbles over. */
export function isPlainBranch(name: string): boolean {
  return (
    /^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(name) &&
    !/\.\.|\/\/|\/\.|\.\/|\.lock(?:\/|$)|[./]$/.test(name) &&
    name.split("/").every((part) => part.length <= 240)
  );
}

/** `*` stands for any letters but a slash, as in a file name; `**` for slashes too. */
export function matchesPattern(pattern: string, branch: string): boolean {
  const source = pattern
    .split(/(\*\*|\*|\?)/)
    .map((part) =>
      part === "**"
        ? ".*"
        : part === "*"
          ? "[^/]*"
          : part === "?"
            ? "[^/]"
            : part.replace(/[\\^$.|+()[\]{}]/g, "\\$&"),
    )
    .join("");
  return new RegExp(`^${source}$`).test(branch);
}

/** How git calls a branch in full. */
export const refOfBranch = (branch: string): string => `refs/heads/${branch}`;

/** What people call a branch; any other ref keeps its full name. */
export const branchOfRef = (ref: string): string => ref.replace(/^refs\/heads\//, "");

/** Git writes only zeros where a ref was not there before, or is not any more. */
export const isNothing = (commit: string): boolean => /^0*$/.test(commit);

/** The branch of the records, which may grow but never go back: in the state, and as last fetched from the remote. */
export const STATE_BRANCH = "pawl/state";
export const STATE_REF = refOfBranch(STATE_BRANCH);
export const FETCHED_STATE_REF = `refs/remotes/origin/${STATE_BRANCH}`;

/** Where the saved diff of a run is kept from git's garbage collection, in each of its repositories. */
export const snapshotRef = (run: string) => `refs/pawl/snapshots/${run}`;

/** What is known of an agent's session lies in a file of this name; ids come from outside. */
export const sessionFile = (session: string) => session.replace(/[^\w-]+/g, "-").slice(0, 100) || "unnamed";
