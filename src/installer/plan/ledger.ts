import * as z from "zod/mini";
import { Failure } from "../../model/failure.ts";
import { LEDGER_FILE } from "../../model/paths.ts";
import { HOW_TO_GET } from "../../model/version.ts";
import type { Json } from "../edit/types.ts";
import { printJson } from "../json-text.ts";

const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** Inside the repository, with forward slashes, never upwards and never into git's own folder. */
const path = z
  .string()
  .check(z.regex(/^(?!\/|[A-Za-z]:)(?!.*(?:^|\/)(?:\.{1,2}|\.[Gg][Ii][Tt])(?:\/|$))[^\\\0]+$/));

const common = {
  path,
  /** Of what we wrote: the whole file, or our part of it. */
  sha256: digest,
  /** Of what it was rendered from. */
  template: digest,
  /** A file of the user's that `--force` replaced: what it was, and what the whole file became. */
  replaced: z.optional(z.strictObject({ original: digest, whole: digest })),
};
const entry = z.strictObject({
  at: z.array(z.string()),
  kind: z.enum(["key", "item"]),
  value: z.custom<Json>(() => true),
});
/** What was put into a file of the user's; with it any clone can take it out again to the byte. */
const inserted = z.strictObject({
  created: z.boolean(),
  pieces: z.array(z.string()),
  made: z.array(z.array(z.string())),
});
const file = z.discriminatedUnion("mode", [
  z.strictObject({
    ...common,
    mode: z.literal("own"),
    /** There was no such file before us. */
    created: z.boolean(),
    /** Edits are expected, so an edited one is never a reason to refuse anything. */
    seed: z.optional(z.literal(true)),
  }),
  z.strictObject({
    ...common,
    mode: z.literal("block"),
    comment: z.enum(["html", "hash"]),
    body: z.string(),
    inserted,
  }),
  z.strictObject({
    ...common,
    mode: z.literal("entry"),
    format: z.enum(["json", "toml"]),
    entries: z.array(entry),
    inserted,
  }),
]);
const ledger = z.strictObject({
  schema: z.literal(1),
  pawl: z.string(),
  /** The digest of the package that installed, so that every clone gets exactly that one. */
  package: z.optional(digest),
  /** What records call this repository: a clone in a folder of another name is the same one. */
  repository: z.optional(z.string()),
  profile: z.enum(["all", "skills"]),
  agents: z.array(z.string()),
  flags: z.array(z.string()),
  /** Folders that were not there before us; they go when nothing is left in them. */
  directories: z.array(path),
  files: z.array(file),
});

export type Ledger = z.output<typeof ledger>;
export type LedgerFile = Ledger["files"][number];
export type OwnRecord = Extract<LedgerFile, { mode: "own" }>;
export type PartRecord = Exclude<LedgerFile, { mode: "own" }>;

export function parseLedger(text: string, shown = LEDGER_FILE): Ledger {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken(shown, "it is not JSON");
  }
  const schema = (value as { schema?: unknown } | null)?.schema;
  if (typeof schema === "number" && schema > 1)
    throw new Failure("unreadable", "newer_ledger", `${shown} was written by a newer pawl.`, {
      hint: `Use that version, or a newer one: ${HOW_TO_GET}`,
      details: { file: shown },
    });
  const read = ledger.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw broken(shown, `"${issue?.path.join(".") ?? ""}" is not what it should be`);
}

function broken(shown: string, why: string): Failure {
  return new Failure("unreadable", "broken_ledger", `${shown} cannot be read: ${why}.`, {
    hint: `Bring back the committed one: git checkout HEAD -- ${LEDGER_FILE}`,
    details: { file: shown },
  });
}

/** The same for the same installation, whatever the order in which it came about. */
export function printLedger(value: Ledger): string {
  const sorted: Ledger = {
    schema: value.schema,
    pawl: value.pawl,
    ...(value.package === undefined ? {} : { package: value.package }),
    ...(value.repository === undefined ? {} : { repository: value.repository }),
    profile: value.profile,
    agents: [...value.agents].sort(),
    flags: [...value.flags].sort(),
    directories: [...new Set(value.directories)].sort(),
    files: [...value.files].sort((a, b) => (a.path < b.path ? -1 : 1)).map(inOrder),
  };
  return printJson(sorted as unknown as Json);
}

function inOrder(one: LedgerFile): LedgerFile {
  const { path, mode, sha256, template, ...rest } = one;
  const known = { path, mode, sha256, template };
  const others = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...known, ...others } as LedgerFile;
}
