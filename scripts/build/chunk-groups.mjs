// Which sources go into one file: each further file that a command loads costs it about half a millisecond.

/** What no read uses. */
const SELDOM = "(?:activate-guard|diagnose-guard|guard-policy|doctor|human-only|redact|dependencies)\\.ts";

/** Loaded by every command. */
const COMMON = [
  ...[
    "src/cli/(?!help|pager|completions)",
    `src/core/(?!context/|audit/|install/|sync/|gates/|runs/(?!current-run)|${SELDOM})`,
    "node_modules/zod/[^?]*$",
  ],
  ...[
    "src/runtime/(?:open|run|world|answer|prepare|git-hands|with-yaml|perform|memory|guard-warnings)\\.ts",
    "src/guard/quick-look\\.ts",
    "src/git/(?:discover|refs)\\.ts",
    "src/disk/(?:read-line|below|standard-streams)\\.ts",
  ],
  "src/store/(?:reader|files|home|layout|task-list|task-snapshot|event-cursor|unfinished|links|event-log)\\.ts",
];

/** Loaded by `check`, and for its gates by `session`: both have to be quick, and one file costs less than several. */
const CHECK = [
  "src/(?:ops/check|core/authors)\\.ts",
  "src/core/gates/",
  "src/runtime/sites\\.ts",
  "src/git/(?:branches|branch-facts|quick-clean|small-blob-hash)\\.ts",
];

/** A group takes along whatever its files import; this is wanted without the MCP server, too. */
const WORKTREES = ["src/git/worktrees/entries\\.ts"];

/** Loaded by `pawl mcp` alone. */
const MCP = ["src/mcp/(?!command)", "node_modules/@modelcontextprotocol/", "\\?sdk$"];

/** One of these paths, on every system. */
const matching = (paths) => new RegExp(paths.join("|").replaceAll("/", "[\\\\/]"));

/** The groups of the bundler. */
export const groups = [
  { name: "program", test: matching(COMMON) },
  { name: "check", test: matching(CHECK) },
  { name: "worktrees", test: matching(WORKTREES) },
  { name: "mcp", test: matching(MCP) },
];
