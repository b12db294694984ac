import { Failure } from "./failure.ts";
import {
  type Field,
  type FieldValues,
  group,
  list,
  matching,
  oneOf,
  optional,
  readFields,
  text,
} from "./fields.ts";
import { type HeaderValue, readHeaderFast } from "./markdown/front-matter.ts";
import { type FullYaml, NeedsFullYaml } from "./record.ts";

/**
 * How much a signature says. `present`: an authenticator vouches in the signature itself that somebody touched it.
 * `possession`: whoever can read the key file, or talk to the ssh agent, can sign.
 */
export const LEVELS = ["possession", "present"] as const;
export type Level = (typeof LEVELS)[number];

export const atLeast = (level: Level, wanted: Level) => LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);

const base64url = (what: string) => matching(/^[\w-]+$/, what, "MCowBQYDK2VwAyEA");

const approverFields = {
  name: text("Ada Lovelace"),
  key: matching(/^[a-z0-9][a-z0-9-]{0,39}$/, "a short name such as ada-laptop", "ada-laptop"),
  kind: oneOf(["ssh", "webauthn"]),
  /** For ssh the line of the `.pub` file without its comment, for webauthn the public key as SPKI in base64url. */
  public: text('"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI…"'),
  level: oneOf(LEVELS),
  id: optional(base64url("a credential id in base64url")),
  alg: optional(oneOf(["ES256", "EdDSA", "RS256"])),
  rp: optional(text("pawl.localhost")),
};

export type Approver = FieldValues<typeof approverFields>;

const fields = {
  /** Chance, made with the first key: what is signed for another repository, or for a fork, is worth nothing in this one. */
  repository: matching(/^[0-9a-f]{32}$/, "32 digits", `"${"0123abcd".repeat(4)}"`),
  approvers: list(group(approverFields)) as Field<Approver[]>,
};

export type Approvers = FieldValues<typeof fields>;

export const APPROVERS_FILE = ".pawl/approvers.yaml";

/** The keys of the humans who may decide. A file that cannot be read whole names nobody, so it is refused. */
export function readApprovers(path: string, source: string, fullYaml: FullYaml | undefined): Approvers {
  const read = readFields(fields, headerOf(path, source, fullYaml));
  if (!read.ok)
    throw broken(path, `"${read.key}" needs ${read.expected}`, `Write it like this: ${read.example}`);
  const { approvers } = read.value;
  for (const one of approvers)
    if (one.kind === "webauthn" && !(one.id && one.alg && one.rp))
      throw broken(path, `the passkey ${one.key} needs id, alg and rp`, "Enrol it again: pawl ui");
  for (const field of ["key", "public"] as const) {
    const twice = approvers.find(
      (one, at) => approvers.findIndex((other) => other[field] === one[field]) !== at,
    );
    if (twice) throw broken(path, `two keys have the same "${field}" (${twice.key})`, "Remove one of them.");
  }
  return read.value;
}

function headerOf(
  path: string,
  source: string,
  fullYaml: FullYaml | undefined,
): ReadonlyMap<string, HeaderValue> {
  const fast = readHeaderFast(source);
  if (fast) return fast;
  if (!fullYaml) throw new NeedsFullYaml();
  try {
    return fullYaml.read(source);
  } catch (error) {
    throw broken(path, `it is not readable YAML (${(error as Error).message})`, "Repair the file by hand.");
  }
}

const broken = (path: string, what: string, hint: string) =>
  new Failure("unreadable", "broken_approvers", `${path}: ${what}.`, { hint, details: { file: path } });

/** The file as we write it; one order and one form, so that a diff shows the key that came or went. */
export function printApprovers({ repository, approvers }: Approvers): string {
  const head =
    "# Who may approve, unlock and settle. Only the copy on the protected branch counts; change it with `pawl approver`.\n";
  const blocks = approvers.map((one) =>
    Object.keys(approverFields)
      .flatMap((name) => {
        const value = one[name as keyof Approver];
        return value === undefined ? [] : [`${name}: ${JSON.stringify(value)}`];
      })
      .map((line, at) => `${at === 0 ? "  - " : "    "}${line}\n`)
      .join(""),
  );
  return `${head}repository: ${JSON.stringify(repository)}\napprovers:${blocks.length === 0 ? " []\n" : `\n${blocks.join("")}`}`;
}
