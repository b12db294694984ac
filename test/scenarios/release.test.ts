import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { VERSION } from "../../src/model/version.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
const WORKFLOWS = [
  ...readdirSync(`${root}/.github/workflows`).map((name) => `.github/workflows/${name}`),
  "hooks/ci/pawl-audit.yml",
];

interface Step {
  uses?: string;
  run?: string;
}
interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { permissions?: Record<string, string>; "timeout-minutes": number; steps: Step[] }>;
}

describe.each(WORKFLOWS)("%s", (path) => {
  const workflow = parse(read(path)) as Workflow;
  const jobs = Object.values(workflow.jobs);

  test("may read, and write nothing but the proof of where it was built", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    const more = jobs.flatMap((job) =>
      Object.entries(job.permissions ?? {}).filter(([, how]) => how === "write"),
    );
    expect(more).toEqual(path.endsWith("release.yml") ? [["id-token", "write"]] : []);
  });

  test("pins every action by hash, ends by itself, and puts no text of others into a shell", () => {
    for (const job of jobs) {
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
      for (const { uses, run } of job.steps) {
        if (uses) expect(uses).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/);
        expect(run ?? "").not.toContain("${{");
      }
    }
  });
});

test("a release runs the tests before it publishes, and publishes with provenance", () => {
  const { steps } = (parse(read(".github/workflows/release.yml")) as Workflow).jobs.publish as {
    steps: Step[];
  };
  const runs = steps.map(({ run }) => run ?? "");
  const publish = runs.findIndex((run) => run.includes("npm publish"));
  expect(runs[publish]).toContain("--provenance");
  // The tarball, not the folder: that has the manifest of the development.
  expect(runs[publish]).toMatch(/npm publish "\.\/pawl-[^ ]*\.tgz"/);
  expect(runs.indexOf("npm run pack")).toBe(publish - 1);
  expect(runs.indexOf("npm test")).toBeGreaterThan(-1);
  expect(runs.indexOf("npm test")).toBeLessThan(publish);
});

test("the version is the same everywhere", () => {
  const manifest = JSON.parse(read("package.json"));
  const lock = JSON.parse(read("package-lock.json"));
  expect([manifest.version, lock.version, lock.packages[""].version]).toEqual([VERSION, VERSION, VERSION]);
  // Which version a project's CI runs is what the project's own ledger says.
  expect(read("hooks/ci/pawl-audit.yml")).not.toMatch(/npx|pawl@|PAWL_VERSION/);
  expect(read("CHANGELOG.md")).toMatch(new RegExp(`^## ${VERSION.replaceAll(".", "\\.")}\\b`, "m"));
});
