import { chmodSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { VERSION } from "../../src/model/version.ts";
import { test } from "../helpers/command-line.ts";

test("a report says what a maintainer asks first, and nothing of whose it is", async ({ project }) => {
  const secrets = {
    address: "https://ada:hunter2@git.internal.example/secret-shop.git",
    token: "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    title: "Rescue the acquisition",
    path: "/opt/private tools/acme/bin",
  };
  project.git("remote", "add", "origin", secrets.address);
  await project.pawl("task", "new", secrets.title, "--objective", secrets.token);
  await project.pawl("task", "update", "T1", "--status", "active");
  await project.pawl("finding", "add", `the token ${secrets.token} is in the log`, "--severity", "high");
  project.write(".pawl/state/tasks/T0002/task.md", `---\nid: nonsense ${secrets.token}\n---\n`);
  await project.pawl("install", "--profile", "hooks");
  // Two things that are wrong with the guard, one of them told with a path outside the repository.
  const hook = join(project.path, ".git/pawl/hooks/reference-transaction");
  chmodSync(hook, 0o644);
  project.git("config", "--worktree", "core.hooksPath", secrets.path);

  const said = `It failed in ${homedir()}/x with ${secrets.token}, in ${project.path}/src/a.ts and ${secrets.path}/x.`;
  const { code, out, err } = await project.pawl("report-issue", said);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain("It failed in <path> with <secret>, in <repository>/src/a.ts and <path>");
  expect(out).toContain(`| pawl | ${VERSION} |\n| node | ${process.versions.node} |\n| git | `);
  expect(out).toContain("| guard | installed |");
  expect(out).toContain("task 2, ");
  expect(out).toContain("finding 1, ");
  expect(out).toContain("| unreadable records | 1 |");
  expect(out).toContain("<repository>/.git/pawl/hooks/reference-transaction");
  const { json } = await project.pawl("report-issue", said, "--json");
  expect(json.data.report.findings.length).toBeGreaterThan(1);
  for (const text of [out, JSON.stringify(json)])
    for (const private_ of [...Object.values(secrets), "hunter2", "internal.example", dirname(project.path)])
      expect(text).not.toContain(private_);
  if (userInfo().username.length > 4) expect(out).not.toContain(userInfo().username);
});

test("a report is made where nothing was recorded yet, and changes nothing", async ({ project }) => {
  const { code, out } = await project.pawl("report-issue");
  expect(code).toBe(0);
  expect(out).toContain("(what you did, what you expected, and what you saw)");
  expect(out).toContain("| guard | not installed |");
  expect(out).toContain("* note `not_guarded` <repository>");
  expect(project.git("status", "--porcelain", "--ignored")).toBe("");
});
