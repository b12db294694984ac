import type { View } from "./views/view.ts";

/** A path with names in braces, and its view, which is loaded on first use. */
interface Route {
  method: "GET" | "POST";
  path: string;
  view: () => Promise<View>;
}

const get = (path: string, view: Route["view"]): Route => ({ method: "GET", path, view });

const post = (path: string, view: Route["view"]): Route => ({ method: "POST", path, view });

export const ROUTES: readonly Route[] = [
  get("/", async () => (await import("./views/home.ts")).home),
  get("/tasks", async () => (await import("./views/tasks.ts")).tasks),
  get("/new/{action}", async () => (await import("./views/act.ts")).actForm),
  post("/new/{action}", async () => (await import("./views/act.ts")).act),
  get("/t/{task}", async () => (await import("./views/overview.ts")).overview),
  get("/t/{task}/diff", async () => (await import("./views/diff.ts")).diffView),
  get("/t/{task}/diff/{repo}/{file}", async () => (await import("./views/diff-file.ts")).diffFile),
  get(
    "/t/{task}/diff/{repo}/{file}/above/{hunk}",
    async () => (await import("./views/diff-file.ts")).linesAbove,
  ),
  get("/t/{task}/diff/{repo}/{file}/below", async () => (await import("./views/diff-file.ts")).linesBelow),
  post("/t/{task}/viewed", async () => (await import("./views/marks.ts")).markViewed),
  get("/t/{task}/findings", async () => (await import("./views/findings.ts")).findings),
  get("/t/{task}/evidence", async () => (await import("./views/evidence.ts")).evidence),
  get("/t/{task}/runs/{run}", async () => (await import("./views/run.ts")).runView),
  get("/t/{task}/runs/{run}/stream", async () => (await import("./views/streams.ts")).runStream),
  get("/t/{task}/approve", async () => (await import("./views/approve.ts")).approveView),
  post("/t/{task}/approve", async () => (await import("./views/approve.ts")).beginApproval),
  post("/t/{task}/approve/sign", async () => (await import("./views/approve.ts")).signApproval),
  post("/t/{task}/approve/withdraw", async () => (await import("./views/approve.ts")).withdrawApproval),
  post("/t/{task}/review", async () => (await import("./views/review.ts")).finishReview),
  get("/t/{task}/runs", async () => (await import("./views/runs.ts")).runs),
  get("/t/{task}/mail", async () => (await import("./views/mail.ts")).taskMail),
  get("/t/{task}/lanes", async () => (await import("./views/lanes.ts")).taskLanes),
  get("/t/{task}/context", async () => (await import("./views/context.ts")).contextView),
  get("/t/{task}/handoffs", async () => (await import("./views/handoffs.ts")).handoffs),
  get("/t/{task}/do/{action}", async () => (await import("./views/act.ts")).actForm),
  post("/t/{task}/do/{action}", async () => (await import("./views/act.ts")).act),
  get("/t/{task}/log", async () => (await import("./views/log.ts")).taskLog),
  get("/events", async () => (await import("./views/streams.ts")).eventStream),
  get("/findings", async () => (await import("./views/all-findings.ts")).allFindings),
  get("/mail", async () => (await import("./views/mail.ts")).mail),
  get("/lanes", async () => (await import("./views/lanes.ts")).lanes),
  get("/search", async () => (await import("./views/search.ts")).searchView),
  get("/audit", async () => (await import("./views/audit.ts")).auditView),
  get("/approvers", async () => (await import("./views/approvers.ts")).approvers),
  post("/approvers", async () => (await import("./views/approvers.ts")).enrol),
  post("/approvers/sign", async () => (await import("./views/approvers.ts")).signEnrolment),
  post("/approvers/withdraw", async () => (await import("./views/approvers.ts")).withdrawEnrolment),
  get("/log", async () => (await import("./views/log.ts")).wholeLog),
  get("/notes", async () => (await import("./views/notes.ts")).notes),
];

export interface Matched {
  view: () => Promise<View>;
  parts: Record<string, string>;
}

/** The route for a path; each part is decoded once, and a part that cannot be decoded matches nothing. */
export function matchRoute(
  method: string,
  path: string,
  routes: readonly Route[] = ROUTES,
): Matched | undefined {
  const words = path.split("/");
  for (const route of routes) {
    const pattern = route.path.split("/");
    if (route.method !== method || pattern.length !== words.length) continue;
    const parts = partsOf(pattern, words);
    if (parts) return { view: route.view, parts };
  }
  return undefined;
}

function partsOf(pattern: readonly string[], words: readonly string[]): Record<string, string> | undefined {
  const parts: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    const word = words[at] ?? "";
    if (name === undefined && part !== word) return undefined;
    const value = decoded(word);
    if (value === undefined || (name !== undefined && value === "")) return undefined;
    if (name !== undefined) parts[name] = value;
  }
  return parts;
}

function decoded(word: string): string | undefined {
  try {
    return decodeURIComponent(word);
  } catch {
    return undefined;
  }
}
