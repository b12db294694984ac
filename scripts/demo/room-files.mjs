// What the files of the demo's project hold, before and after the tasks that change them.
const CONFIG = `checks:
  test: node test.mjs
agents:
  hasty:
    command: [sh, agents/hasty.sh]
  patient:
    command: [sh, agents/patient.sh]
`;

const retryBefore = `import { sleep } from "./sleep.ts";

export interface Policy {
  attempts: number;
  longest: number;
}

type Send = (request: Request) => Promise<Response>;

/** Sends a request, more than once if that helps. */
export async function retrying(request: Request, send: Send): Promise<Response> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const response = await send(request.clone());
    if (response.status < 500) return response;
    await sleep(1000);
  }
  throw new Error("too many retries");
}
`;

const retryAfter = (wait, more) => `import { sleep } from "./sleep.ts";

export interface Policy {
  attempts: number;
  longest: number;
}

type Send = (request: Request) => Promise<Response>;

/** Sends a request, more than once if the server says that this helps. */
export async function retrying(request: Request, send: Send, policy: Policy): Promise<Response> {
  for (let attempt = 0; attempt < policy.attempts; attempt++) {
    const response = await send(request.clone());
    if (!isTransient(response.status)) return response;
    // The server knows best how long it wants to be left alone.
    const asked = Number(response.headers.get("Retry-After")) * 1000;
    await sleep(${wait});
  }
  throw new Error(\`gave up on \${request.url} after \${policy.attempts} attempts\`);
}

const isTransient = (status: number) => status === 429 || status === 502 || status === 503;
${more}`;

const limits = (line) => `import type { Reply } from "./reply.ts";

const WINDOW_MS = 60_000;

/** Says no to whoever asks too often. */
export function limited(reply: Reply, since: number): Reply {
  const left = WINDOW_MS - (Date.now() - since);
  ${line}
  return reply.status(429);
}
`;

const lock = (version) =>
  `${JSON.stringify({ name: "web", lockfileVersion: 3, packages: { "node_modules/undici": { version } } }, null, 2)}\n`;

const refusalAfter = `const MOST = 10_000_000;

/** Why a file is not taken, in words for whoever uploads it. */
export function refusal(size: number): string {
  return size > MOST ? \`It is \${Math.round(size / 1e6)} MB; up to \${MOST / 1e6} MB are taken.\` : "";
}
`;

export const before = {
  web: {
    ".pawl/config.yaml": CONFIG,
    "test.mjs": 'console.log("14 passed");\n',
    "package-lock.json": lock("7.1.0"),
    "src/http/retry.ts": retryBefore,
    "src/http/sleep.ts":
      "export const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));\n",
    "src/log.ts": "export const nameOf = (file: string) => file;\n",
    "src/upload/refusal.ts":
      'export function refusal(size: number): string {\n  return size > 10_000_000 ? "refused" : "";\n}\n',
    "agents/hasty.sh": 'echo "Reading src/billing"\necho "the queue mock is missing" >&2\nexit 3\n',
    "agents/patient.sh":
      'n=0\necho "Reading the task\'s packet"\nwhile [ $n -lt 1200 ]; do n=$((n+1)); echo "report $n: looking for hours without a zone"; sleep 1; done\n',
  },
  api: {
    ".pawl/config.yaml": "checks:\n  test: node test.mjs\n",
    "test.mjs": 'console.log("6 passed");\n',
    "src/limits.ts": limits('reply.header("Retry-After", new Date(Date.now() + left).toUTCString());'),
  },
};

export const change = {
  quote: { "src/log.ts": "export const nameOf = (file: string) => JSON.stringify(file);\n" },
  retry: {
    "src/http/retry.ts": retryAfter("Math.min(asked, policy.longest)", ""),
    "package-lock.json": lock("7.2.1"),
  },
  backoff: {
    "src/http/retry.ts": retryAfter(
      "Math.min(asked > 0 ? asked : backoff(attempt), policy.longest)",
      "\nconst backoff = (attempt: number) => 250 * 2 ** attempt;\n",
    ),
    "src/http/retry.test.ts": `import { test } from "node:test";
import { retrying } from "./retry.ts";

test("a 429 without Retry-After waits by backoff", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const waited: number[] = [];
  await retrying(new Request("http://api/orders"), answers(429, 200), { attempts: 3, longest: 5_000 });
  t.assert.deepEqual(waited, [250]);
});
`,
  },
  limits: { "src/limits.ts": limits('reply.header("Retry-After", String(Math.ceil(left / 1000)));') },
  refusal: {
    "src/upload/refusal.ts": refusalAfter,
  },
};
