// A project with one of everything that the page shows: something to approve, to review, to decide, a run that failed, one that
// works, and what was merged. Two repositories, the real program, scripted authors.
import { typeOnTerminal } from "../type-on-terminal.mjs";
import { before, change } from "./room-files.mjs";
import {
  ada,
  claude,
  codex,
  commitIn,
  env,
  makeRepository,
  pathOf,
  pawl,
  quietly,
  worktreeOf,
} from "./stage.mjs";

const [web, api] = ["web", "api"].map(pathOf);

/** Fills the project; resolves to its folder, or to undefined where this machine cannot make a terminal for the approval. */
export async function fillRoom(say) {
  makeRepository("web", before.web, "The client as it was");
  makeRepository("api", before.api, "The api as it was");
  say("pawl is installed, in two repositories that share their records");
  quietly(ada, web, "install", "--yes", "--commit");
  quietly(ada, web, "repo", "add", "../api");
  quietly(ada, api, "install", "--yes", "--profile", "hooks");
  say("T0001 is written by Codex, and merged by Ada");
  if (!(await merged())) return undefined;
  say("T0002 changes both repositories; Claude found something, Codex fixed it, now a person reads it");
  toReview();
  say("T0003 waits for a decision, T0004's agent failed, T0005's agent is at work");
  stuck();
  say("T0006 can be approved, T0007 and T0008 can be started");
  toApprove();
  quietly(
    ada,
    web,
    "task",
    "new",
    "Search by invoice number",
    "--objective",
    "Support finds an invoice by the number on the letter.",
  );
  quietly(ada, web, "task", "new", "Cache the currency table", "--depends", "T5");
  quietly(
    codex,
    web,
    "mail",
    "send",
    "human",
    "Is `5 s` as the longest wait meant for uploads too?",
    "--task",
    "T2",
  );
  quietly(
    ada,
    web,
    "mail",
    "send",
    "T5",
    "The time zone of the branch office is in **config/offices.json**.",
  );
  quietly(ada, web, "lane", "add", "T5", "--path", "src/reports", "--why", "The export is rewritten here");
  quietly(ada, web, "lane", "add", "T7", "--path", "src/invoices", "--path", "test/invoices/**");
  quietly(ada, web, "lane", "add", "T8", "--path", "src/reports/currency", "--after", "T5");
  quietly(
    ada,
    web,
    "note",
    "add",
    "How releases are made",
    "--label",
    "release",
    "--text",
    "Every Tuesday, from `main`, by whoever is on duty:\n\n- `npm run release`\n- watch the error rate for ten minutes\n- write what changed into the **customers' changelog**",
  );
  return web;
}

/** A task of Codex' with a worktree in each named repository. */
function begin(title, { repos = ["web"], profile = "light", more = [] } = {}) {
  const named = repos.flatMap((repo) => ["--repo", repo]);
  const made = JSON.parse(
    quietly(ada, web, "task", "new", title, "--profile", profile, ...named, ...more, "--json"),
  );
  const { id } = made.data.task;
  quietly(codex, web, "start", id);
  const { branch } = JSON.parse(quietly(ada, web, "task", "show", id, "--json")).data.runs[0].repos[0];
  return { id, at: (repo) => worktreeOf(repo, branch.replace(/^task\//, "")) };
}

async function merged() {
  const { id, at } = begin("Quote file names in the log", {
    more: ["--objective", "A file name with a space or a newline reads as one name."],
  });
  commitIn(at("web"), change.quote, "Quote file names in the log");
  ready(id, [at("web")], "Names are quoted as JSON does it");
  quietly(codex, at("web"), "check", "--stage", "close");
  const options = { cwd: web, env };
  const code = await typeOnTerminal([...pawl, "approve", id], id, options, () => {});
  if (code === undefined) return false;
  if (code !== 0) throw new Error(`The approval of ${id} ended with ${code}`);
  quietly(ada, web, "finish", id, "--remove", "--reason", "merged");
  return true;
}

function toReview() {
  const { id, at } = begin("Retry what asks to be retried, and nothing else", {
    ...{ repos: ["web", "api"], profile: "standard" },
    more: [
      ...[
        "--objective",
        "A request that failed is sent again only where the server says that this makes sense, and as late as it asks.",
      ],
      ...[
        "--acceptance",
        "- a 429 waits as long as `Retry-After` says, at most `policy.longest`\n- a 404 is never sent again\n- after `policy.attempts` the error names the address",
      ],
      ...[
        "--plan",
        "1. `isTransient` decides by the status alone\n2. the wait comes from the server, else from `backoff`\n3. the api says `Retry-After` in seconds",
      ],
    ],
  });
  quietly(
    codex,
    at("web"),
    "decide",
    "The wait comes from the server, else from backoff(attempt)",
    "--why",
    "A client that guesses hammers a server that asked for calm",
  );
  commitIn(at("web"), change.retry, "Retry what asks to be retried");
  quietly(
    claude,
    at("web"),
    "finding",
    "add",
    "A 429 without `Retry-After` falls through to an immediate retry: `Number(null)` is 0, so the client hammers the server exactly when it asked for calm.",
    "--severity",
    "medium",
    "--kind",
    "branch",
    "--file",
    "src/http/retry.ts",
    "--line",
    "18",
    "--fix",
    "fall back to `backoff(attempt)` when the header is missing or not a number",
  );
  commitIn(at("web"), change.backoff, "Fall back to backoff when the server does not say how long");
  commitIn(at("api"), change.limits, "Say Retry-After in whole seconds");
  quietly(
    codex,
    at("web"),
    "finding",
    "resolve",
    "F1",
    "--note",
    "falls back to backoff(attempt); test added",
  );
  ready(
    id,
    [at("web"), at("api")],
    "Retries wait as long as the server asks, else by backoff; the api says it in seconds.",
  );
}

/** What every author does before somebody else looks: checks, a handoff, the saved diff. */
function ready(id, places, what) {
  for (const where of places) quietly(codex, where, "verify");
  quietly(
    codex,
    places[0],
    "handoff",
    id,
    "--what",
    what,
    "--next",
    "Read it",
    "--validation",
    "npm test passes",
  );
  quietly(codex, places[0], "snapshot", id);
}

function stuck() {
  const { id } = begin("Drop the legacy session cookie");
  quietly(
    codex,
    web,
    "task",
    "update",
    id,
    "--status",
    "blocked",
    "--blocker",
    "Old apps still read it: keep it for one release?",
  );
  quietly(
    ada,
    web,
    "task",
    "new",
    "Split the billing worker",
    "--objective",
    "Invoices and reminders no longer wait for each other.",
  );
  quietly(ada, web, "run", "T4", "--agent", "hasty", "--time", "5m");
  quietly(
    ada,
    web,
    "task",
    "new",
    "Time zones in the report export",
    "--objective",
    "A report says which time zone its hours are in.",
  );
  quietly(ada, web, "run", "T5", "--agent", "patient", "--time", "20m");
  const wait = spawnWait("T4");
  if (wait !== 1) throw new Error(`The run of T0004 should have failed, and ended with ${wait}`);
}

function spawnWait(task) {
  try {
    quietly(ada, web, "run", "wait", task);
    return 0;
  } catch {
    return 1;
  }
}

function toApprove() {
  const { id, at } = begin("Explain a refused upload", {
    more: ["--objective", "Whoever uploads learns why a file was refused, and what would be taken."],
  });
  commitIn(at("web"), change.refusal, "Say why an upload was refused");
  ready(id, [at("web")], "A refusal says why, and what would be taken.");
  quietly(codex, at("web"), "check", "--stage", "close");
}

/** What was begun goes on by itself: whoever ends the demo ends it as well. */
export function leaveRoom() {
  quietly(ada, web, "run", "stop", "T5", "--grace", "1s");
}
