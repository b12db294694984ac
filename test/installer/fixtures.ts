import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newerGit, notRun } from "../helpers/optional-program.ts";
import { makeRepository, type TemporaryRepository } from "../helpers/temporary-repository.ts";

/** A repository as users have them, and where pawl is installed in it. */
export interface Fixture {
  name: string;
  make(root: string): TemporaryRepository & { gitDir?: string };
}

function put(path: string, text: string, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (mode !== undefined) chmodSync(path, mode);
}

const git = ({ path, env }: TemporaryRepository, ...args: string[]) =>
  execFileSync("git", args, { cwd: path, env, stdio: "pipe", encoding: "utf8" }).trim();

/** A committed repository with these files. */
const withFiles =
  (files: Record<string, string>, then: (at: TemporaryRepository) => void = () => {}) =>
  (root: string) => {
    const repository = makeRepository(root);
    for (const [path, text] of Object.entries(files)) put(join(repository.path, path), text);
    git(repository, "add", "-A");
    git(repository, "commit", "-q", "--allow-empty", "-m", "Files");
    then(repository);
    return repository;
  };

/** Refs in tables are known to newer versions of git alone. */
const tables = newerGit();
notRun(tables !== undefined, "git 2.54 or newer");

function inFormat(root: string, format: readonly string[], folder?: string): TemporaryRepository {
  const { path, env } = makeRepository(root);
  const repository = { path, env: { ...env, PATH: [folder, env.PATH].filter(Boolean).join(":") } };
  rmSync(join(path, ".git"), { recursive: true });
  git(repository, "init", "-q", "--template=", "-b", "main", ...format);
  git(repository, "add", "-A");
  git(repository, "commit", "-q", "-m", "Begin");
  return repository;
}

const ODD_JSON = `{
    // the team's own hooks
    "permissions": {"allow": ["Bash(npm test)",], /* more later */ "deny": []},
    "hooks": {
\t"PreToolUse": [ {"matcher": "Bash", "hooks": [{"type":"command","command":"./check.sh"}]} ]
    }
}`;

const ODD_TOML = `# our settings
model   = "o4"   # keep

[mcp_servers.other]
command = 'npx' # ours
args = [
  "-y", # yes
  "other",
]


[profiles."a b"]
x=1`;

const AGENTS_MD = "# Rules\n\n* Be kind.\n\n\n";

export const FIXTURES: readonly Fixture[] = [
  { name: "empty but for a README", make: (root) => makeRepository(root) },
  {
    name: "no commits yet",
    make(root) {
      const repository = makeRepository(root);
      rmSync(join(repository.path, ".git"), { recursive: true });
      git(repository, "init", "-q", "--template=", "-b", "main");
      return repository;
    },
  },
  {
    name: "husky",
    make: withFiles({ ".husky/pre-commit": "npm test\n", "package.json": "{}\n" }, (at) => {
      put(join(at.path, ".husky/_/pre-commit"), "#!/bin/sh\nexit 0\n", 0o755);
      put(join(at.path, ".husky/_/.gitignore"), "*\n");
      git(at, "config", "core.hooksPath", ".husky/_");
    }),
  },
  {
    name: "lefthook",
    make: withFiles({ "lefthook.yml": "pre-commit:\n  commands: {}\n" }, (at) => {
      for (const name of ["pre-commit", "prepare-commit-msg"])
        put(join(at.path, ".git/hooks", name), "#!/bin/sh\n# lefthook\nexit 0\n", 0o755);
    }),
  },
  {
    name: "settings of all agents, with comments and odd formatting",
    make: withFiles({
      "CLAUDE.md": "Read the docs.\n",
      "AGENTS.md": AGENTS_MD,
      ".claude/settings.json": ODD_JSON,
      ".codex/config.toml": ODD_TOML,
      ".codex/hooks.json": '{"hooks":{}}',
      ".mcp.json": '{"mcpServers":{"other":{"command":"x"}}}\n',
      ".vscode/mcp.json": "{}",
      "GEMINI.md": "Be brief.",
      ".gemini/settings.json":
        '{\n  // mine\n  "mcpServers": { "other": { "command": "x" } },\n  "hooks": { "BeforeTool": [] }\n}',
      "opencode.json": '{"$schema":"https://opencode.ai/config.json"}\n',
      ".opencode/plugins/mine.js": "export const Mine = async () => ({});\n",
      ".cursor/mcp.json": "{}\n",
      ".cursor/hooks.json": '{ "version": 1, "hooks": { "stop": [{ "command": "mine" }] } }\n',
      ".claude/skills/mine/SKILL.md": "---\nname: mine\ndescription: x\n---\n",
    }),
  },
  {
    name: "CRLF and a byte order mark",
    make: withFiles({
      "AGENTS.md": "\ufeff# Rules\r\n\r\nBe kind.\r\n",
      "CLAUDE.md": "No last line end",
      ".mcp.json": '{\r\n\t"mcpServers": {}\r\n}\r\n',
      ".codex/config.toml": 'model = "x"\r\n',
      ".claude/settings.json": "\ufeff{}",
      ".gemini/settings.json": '{\r\n  "mcpServers": {}\r\n}',
      "GEMINI.md": "\ufeffOdd.\r\n",
    }),
  },
  {
    name: "CLAUDE.md that imports AGENTS.md",
    make: withFiles({ "CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "" }),
  },
  {
    name: "a monorepo",
    make: withFiles({
      "packages/one/AGENTS.md": "One.\n",
      "packages/one/.claude/settings.json": "{}\n",
      "packages/two/CLAUDE.md": "Two.\n",
      "AGENTS.md": "Root.",
    }),
  },
  {
    name: "a submodule",
    make(root) {
      const inner = makeRepository(join(root, "inner"), "lib");
      const outer = makeRepository(root, "outer");
      const clone = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.path, "vendor/lib"];
      git(outer, ...clone);
      git(outer, "commit", "-q", "-m", "Add lib");
      const at = { path: join(outer.path, "vendor/lib"), env: outer.env };
      return { ...at, gitDir: join(outer.path, ".git/modules/vendor/lib") };
    },
  },
  {
    name: "a repository with a submodule",
    make(root) {
      const inner = makeRepository(join(root, "inner"), "lib");
      const outer = makeRepository(root, "outer");
      git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.path, "vendor/lib");
      git(outer, "commit", "-q", "-m", "Add lib");
      return outer;
    },
  },
  {
    name: "a linked worktree",
    make(root) {
      const main = makeRepository(root, "main tree");
      git(main, "worktree", "add", "-q", "-b", "other", join(root, "linked tree"));
      return { path: join(root, "linked tree"), env: main.env, gitDir: join(main.path, ".git") };
    },
  },
  {
    name: "a bare repository with worktrees",
    make(root) {
      const source = makeRepository(root, "source");
      git(source, "clone", "-q", "--bare", source.path, join(root, "project/.bare"));
      const bare = { path: join(root, "project/.bare"), env: source.env };
      git(bare, "worktree", "add", "-q", join(root, "project/main"), "main");
      return { path: join(root, "project/main"), env: source.env, gitDir: bare.path };
    },
  },
  {
    name: "read-only files",
    make: withFiles({ "AGENTS.md": AGENTS_MD, ".mcp.json": "{}\n" }, ({ path }) => {
      chmodSync(join(path, "AGENTS.md"), 0o444);
      chmodSync(join(path, ".mcp.json"), 0o400);
    }),
  },
  {
    name: "a symlinked AGENTS.md",
    make: withFiles({ "CLAUDE.md": "# Claude\n" }, (at) => {
      symlinkSync("CLAUDE.md", join(at.path, "AGENTS.md"));
      git(at, "add", "-A");
      git(at, "commit", "-q", "-m", "Link");
    }),
  },
  {
    name: "skills in one folder by a link",
    make: withFiles({ ".agents/skills/mine/SKILL.md": "mine\n" }, (at) => {
      mkdirSync(join(at.path, ".claude"));
      symlinkSync("../.agents/skills", join(at.path, ".claude/skills"));
    }),
  },
  {
    name: "spaces and unicode in the path",
    make(root) {
      const repository = makeRepository(root);
      const path = join(root, "pröject ☕ 日本 [x]");
      renameSync(repository.path, path);
      return { ...repository, path };
    },
  },
  {
    name: "a detached HEAD with changes of the user's",
    make: withFiles({ "AGENTS.md": "Committed.\n" }, (at) => {
      git(at, "checkout", "-q", "--detach");
      put(join(at.path, "AGENTS.md"), "Committed.\nNot yet.\n");
      put(join(at.path, "untracked.txt"), "mine\n");
    }),
  },
  {
    name: "executable and unusual modes",
    make: withFiles({ "AGENTS.md": "x\n" }, ({ path }) => {
      chmodSync(join(path, "AGENTS.md"), 0o755);
      put(join(path, "private/secret"), "s\n", 0o600);
    }),
  },
  { name: "objects with SHA-256 names", make: (root) => inFormat(root, ["--object-format=sha256"]) },
  ...(tables
    ? [
        {
          name: "refs in tables",
          make: (root: string) => inFormat(root, ["--ref-format=reftable"], tables.folder),
        },
      ]
    : []),
];
