import type { Diagnosis } from "./doctor.ts";

/** What the project's own files say about how it is checked. */
export interface ProjectProposal {
  checks: { name: string; command: string }[];
  /** Makes a fresh worktree ready for them. */
  setup: string | undefined;
  /** The files that say so. */
  from: string[];
  /** A package of npm's that would be published with what install writes. */
  packed: boolean;
  /** Programs that these commands begin with and that this machine does not have. */
  missing: string[];
}

/** What is to be installed into the tracked files. */
export interface SurfaceRequest {
  agents: readonly string[];
  flags: readonly string[];
  /** Everything, or only the skills with what they need. */
  profile: "all" | "skills";
  /** Replace what is in the way; copies are kept. */
  force: boolean;
  /** What the policy begins with, where there is none yet. */
  remotes?: readonly { name: string; address: string }[];
  /** What a human wants of what was proposed, and what else that policy is to say. */
  policy?: { checks: boolean; setup: boolean; profile?: string; protected?: readonly string[] };
  /** Leave an edited file as it is although there is a newer one, instead of stopping. */
  lenient: boolean;
  /** The package that runs becomes the one that the project names, also where it names another of the same version. */
  renew?: boolean;
}

/** One thing that is done with a file, or deliberately is not. */
export interface FileStep {
  do: "create" | "update" | "keep" | "remove" | "leave" | "refuse";
  path: string;
  why: string | undefined;
  /** For a refusal: how to go on, and what would change. */
  how: string | undefined;
  diff: string | undefined;
}

export interface AgentNext {
  agent: string;
  title: string;
  /** What a person types there to begin: `/pawl`, `$pawl`. */
  begin: string;
  /** What a person does next, one line each. */
  next: string[];
  /** What the agent will still ask them, and how often. */
  asks: string[];
}

/** What is installed in this worktree, as its ledger says. */
export interface Installed {
  version: string;
  /** The digest of the package that every clone is to run. */
  package: string | undefined;
  profile: "all" | "skills";
  agents: string[];
  flags: string[];
}

/** A change of the user's changes. */
export type OverrideChange =
  | { do: "skill"; name: string; mode: "replace" | "patch" | "disable"; text: string | undefined }
  /** What somebody changed in the skill's installed files becomes a patch. */
  | { do: "edited"; name: string }
  | { do: "add"; name: string; text: string | undefined }
  | { do: "surface"; surface: "mcp" | "hooks"; mode: "disable" | "replace" }
  | { do: "remove"; name: string }
  /** Made against what is upstream now; without a name, whatever was merged by itself. */
  | { do: "settle"; name: string | undefined };

/** One override, and what became of it: `applied`, or why a person should look at it. */
export interface OverrideListing {
  name: string;
  kind: "skill" | "surface";
  mode: string;
  state: string;
  path: string;
  /** What changed upstream since it was made. */
  diff: string | undefined;
}

/** The branch that a commit of the installed files would move, or why it cannot. */
export interface CommitLook {
  branch: string | undefined;
  ref: string | undefined;
  tip: string | undefined;
  /** A whole sentence, with how to go on. */
  obstacle: { code: string; message: string; hint: string } | undefined;
}

/** A commit that is made but not on any branch yet. */
export interface PreparedCommit {
  ref: string;
  branch: string;
  old: string | undefined;
  commit: string;
  /** What differs from the commit before. */
  paths: string[];
  /** Installed files that are not part of it, and why. */
  left: { path: string; why: string }[];
}

/** The tracked files of an installation and the clone's own copy of the program, in the worktree we stand in. */
export interface Installation {
  /** The version of the program that runs. */
  version: string;
  /** The digest of its package; undefined where it was not built. */
  package: string | undefined;
  /** Every agent there is an adapter for, the ones that are installed by default first. */
  known: { agents: readonly string[]; usual: readonly string[]; flags: readonly string[] };
  /** False inside a bare repository: there are no files to write to. */
  hasFiles: boolean;
  installed(): Installed | undefined;
  /** What a first `.pawl/config.yaml` would say; undefined where there is one. */
  proposal(): ProjectProposal | undefined;
  /** While nobody else installs or uninstalls here; waits for whoever does so now. */
  exclusively<T>(act: () => Promise<T>): Promise<T>;
  /** What a killed run left is completed; answers with what could not be, in words. */
  recover(): string[];
  plan(request: SurfaceRequest): FileStep[];
  apply(request: SurfaceRequest): FileStep[];
  planRemoval(): FileStep[];
  remove(): FileStep[];
  next(request: Pick<SurfaceRequest, "agents" | "flags">): AgentNext[];
  overrides(): OverrideListing[];
  /** Writes the files of an override and everything that follows from them. */
  applyOverride(change: OverrideChange, request: SurfaceRequest): FileStep[];
  planOverride(change: OverrideChange, request: SurfaceRequest): FileStep[];

  /** Everything that is not as it should be, and what agents still have to be told by a person. */
  examine(): Diagnosis[];

  /** Files of the program that this clone's copy lacks. */
  missingRuntime(): string[];
  /** Thoroughly: every file is read, and not only looked at. */
  copyRuntime(thoroughly?: boolean): string[];
  /** Where the caller's tools are becomes what checks run with from here on; only a human at a terminal may say so a second time. */
  keepEnvironment(when: "always" | "first"): boolean;
  /** Programs that these lines for a shell begin with and that checks would not find, with what the policy adds to their environment. */
  missingPrograms(lines: readonly string[], policy: Readonly<Record<string, string>>): string[];
  /** Folders on the PATH of checks that the shell of whoever runs this does not have. */
  foreignFolders(): string[];
  /** The last act of an uninstall: the program may be the one that runs. What cannot go is answered. */
  removeRuntime(): string[];

  lookAtCommit(): CommitLook;
  /** Whether the commit that is checked out has the ledger as it is in the tree. */
  isCommitted(): boolean;
  /** Undefined when the branch has everything already. */
  prepareCommit(request: SurfaceRequest): PreparedCommit | undefined;
  /** Stages and moves; `granted` lets the guard know this one move. */
  commit(prepared: PreparedCommit, granted: boolean): void;
}
