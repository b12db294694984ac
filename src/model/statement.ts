/**
 * What a human signs. Every field that an attack could change is in it: which repository (`id`, so that what
 * was signed for another one is worth nothing here), which branch, what it was and what it becomes.
 */
export type Statement =
  | {
      kind: "approval";
      record: string;
      receipt: string;
      repos: (Target & { style: MergeStyle; old: string; head: string; tree: string; new: string })[];
    }
  | { kind: "unlock"; record: string; repos: (Target & { old: string; until: string })[] }
  | { kind: "unlocked"; record: string; repos: (Target & { old: string; new: string })[] }
  /** `ours` and `theirs` are the two states that are brought together; which records are kept as they are in which. */
  | {
      kind: "settle";
      record: string;
      repos: (Target & { old: string })[];
      ours: string;
      theirs: string;
      keep: { ours: string[]; theirs: string[] };
    }
  | { kind: "approvers" | "policy"; record: string; repos: [Target & Change] }
  | { kind: "uninstall"; record: string; repos: (Target & { old: string })[] }
  | {
      kind: "request";
      record: string;
      receipt: string;
      repos: (Target & { head: string; tree: string })[];
    };

export const MERGE_STYLES = ["merge", "squash", "ff"] as const;
export type MergeStyle = (typeof MERGE_STYLES)[number];

/** One protected branch of one repository; `id` is the `repository` of its `.pawl/approvers.yaml`. */
interface Target {
  id: string;
  ref: string;
}

/** The move that a change of keys or policy is part of, and the sha256 of the file before and after; empty when absent. */
interface Change {
  old: string;
  new: string;
  before: string;
  after: string;
}

/** What is read of an approval's record; where a merge was made on what the remote had, that is what the branch was. */
interface SignedApproval {
  uid?: string | undefined;
  receipt: string;
  repos: {
    id?: string | undefined;
    ref: string;
    style: MergeStyle;
    old: string;
    onto?: string | undefined;
    head: string;
    tree: string;
    new: string;
  }[];
}

export const approvalStatement = ({ uid = "", receipt, repos }: SignedApproval): Statement => ({
  kind: "approval",
  record: uid,
  receipt,
  repos: repos.map(({ id = "", ref, style, old, onto = old, head, tree, new: fresh }) => ({
    id,
    ref,
    style,
    old: onto,
    head,
    tree,
    new: fresh,
  })),
});

/** What is signed of a pull request: nobody knows yet what the host will make of it, or on what. */
export const requestStatement = ({
  uid = "",
  receipt,
  repos,
}: Pick<SignedApproval, "uid" | "receipt"> & {
  repos: Pick<SignedApproval["repos"][number], "id" | "ref" | "head" | "tree">[];
}): Statement => ({
  kind: "request",
  record: uid,
  receipt,
  repos: repos.map(({ id = "", ref, head, tree }) => ({ id, ref, head, tree })),
});

/** What the ssh signature says it is for; ssh-keygen calls it a namespace. */
export const SSH_NAMESPACE = "pawl-statement";

/**
 * The bytes whose sha256 is signed. The prefix keeps a signature over this from ever being one over anything else; the
 * canonical form gives one meaning exactly one text.
 */
export const statementText = (statement: Statement) => `pawl statement v1\0${canonical(statement)}`;

/** JSON with sorted keys and no spaces. What JSON would drop or change silently is refused. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean" || value === null || Number.isSafeInteger(value)) return String(value);
  if (typeof value !== "object") throw new TypeError(`${typeof value} has no canonical form`);
  const entries = Object.entries(value as Record<string, unknown>).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return `{${entries.map(([key, one]) => `${canonical(key)}:${canonical(one)}`).join(",")}}`;
}
