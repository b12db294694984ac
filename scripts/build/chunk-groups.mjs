// Which sources go into one file: each further file that a command loads costs it about half a millisecond.

/** What no read uses, although it lies beside what every read uses. */
const SELDOM = {
  judge:
    "(?:keys|trust|target|lanes|new-findings|not-run|change|notes|own-task|record-texts|only-installed|runs/usage)\\.ts",
  model: "(?:redact|dependencies|record-schema|duration|remote-address|records/kind-of-path)\\.ts",
};

/** Loaded by every command. */
const COMMON = [
  ...[
    "src/cli/(?!help|citty|pager|completions|explain-usage|[a-z]+-command\\.)",
    `src/model/(?!${SELDOM.model}|markdown/full-yaml)`,
    `src/judge/(?!${SELDOM.judge})[a-z-]+\\.ts`,
    "src/ports/",
    "src/ops/(?:operation|index)\\.ts",
    "node_modules/zod/(?![^?]*json-schema)[^?]*$",
  ],
  ...[
    "src/runtime/(?:open|run|settle-leftovers|world|answer|git-hands|with-yaml|perform|guard-warnings|installed)\\.ts",
    "src/guard/quick-look\\.ts",
    "src/git/(?:discover|refs|repository-files|guard-files|config-file)\\.ts",
    "src/files/(?:read|cache|standard-streams)\\.ts",
  ],
  "src/store/(?:reader|files|home|layout|task-list|task-list-cache|event-cursor|unfinished|links|event-log|state/is-complete)\\.ts",
];

/**
 * The gates, and where the work of a task lies: loaded by `check`, `session` and most of what asks git. As files of their own
 * they cost these a millisecond and more; in the program they cost `task show`, which has room for it, less than one.
 */
const GATES = ["src/judge/gates/", "src/flows/check/(?!handoff|check-request)"];
const PLACES = [
  "src/runtime/(?:sites|workplaces|tell-landed|targets)\\.ts",
  "src/judge/session/whose\\.ts",
  "src/guard/made-policy\\.ts",
  "src/git/(?:branches|branch-facts|quick-clean|look-at-work)\\.ts",
];

/** Loaded when an agent is started: until it is there, every file counts. */
const RUN = [
  "src/ops/run\\.ts",
  "src/flows/run/run-(?:caller|choose|launch|limits|lock|packet|policy|records)\\.ts",
  "src/flows/claims/",
  "src/flows/start/start-(?:task|holder|carry-out|facts|plan|records|restore)\\.ts",
  "src/agents/(?:open|launch|environment|find-program|runner|run-around|show-log)\\.ts",
  "src/runtime/agent-hands\\.ts",
];

/** Wanted without all that starts agents: by whatever writes or searches, and by `context`. */
const LOCK = ["src/files/(?:intent-lock|process-identity)\\.ts"];
const CONTEXT = ["src/(?:judge|flows)/context/"];

/** Loaded by everything that writes records, and by everything that makes or removes worktrees. */
const WRITE = [
  "src/runtime/write\\.ts",
  "src/store/(?:transaction|journal|events)\\.ts",
  "src/files/(?:file-journal|digest)\\.ts",
];
const WORK = [
  "src/git/worktrees/(?!entries)",
  "src/git/(?:grants|ref-locks|exclude|unfinished-operation|format)\\.ts",
];
const GIT = ["src/git/(?:run-git|policies|repository|working-tree|copy-index|ask-branches)\\.ts"];

/** A group takes along whatever its files import. The first is wanted without the MCP server, the second without git. */
const WORKTREES = ["src/git/worktrees/entries\\.ts"];
const BLOBS = ["src/git/blobs\\.ts"];

/** Loaded by `pawl mcp` alone. */
const MCP = ["src/mcp/(?!command)", "node_modules/@modelcontextprotocol/", "\\?sdk$"];

/** One of these paths, on every system. */
const matching = (paths) => new RegExp(paths.join("|").replaceAll("/", "[\\\\/]"));

/** The groups of the bundler. */
export const groups = [
  { name: "program", test: matching([...COMMON, ...GATES, ...PLACES]) },
  { name: "seldom", test: matching([`src/judge/${SELDOM.judge}`, `src/model/${SELDOM.model}`]) },
  { name: "lock", test: matching(LOCK) },
  { name: "context", test: matching(CONTEXT) },
  { name: "blobs", test: matching(BLOBS) },
  { name: "run", test: matching(RUN) },
  { name: "write", test: matching(WRITE) },
  { name: "git", test: matching(GIT) },
  { name: "work", test: matching(WORK) },
  { name: "worktrees", test: matching(WORKTREES) },
  { name: "mcp", test: matching(MCP) },
];
