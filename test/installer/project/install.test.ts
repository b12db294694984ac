import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { test } from "../../helpers/command-line.ts";
import { ok } from "../../helpers/ready-task.ts";

const CONFIG = ".pawl/config.yaml";

describe("install into a project with a test script", () => {
  test("commits the checks it found, and bare `pawl verify` runs them", async ({ project }) => {
    project.commit("package.json", '{"name":"x","scripts":{"test":"node -e \\"\\""}}\n');
    const said = await ok(project.pawl("install", "--yes", "--commit"));
    expect(said.out).toContain("checks  test: npm test");
    expect(project.git("show", `main:${CONFIG}`)).toContain("checks:\n  test: npm test\n");
    await ok(project.pawl("task", "new", "Fix it", "--profile", "light"));
    await ok(project.pawl("start", "T1"));
    const { json } = await ok(project.pawl("verify", "T1", "--json"));
    expect(json.data.evidence).toMatchObject([
      { check: "test", argv: ["sh", "-c", "npm test"], exit_code: 0 },
    ]);
  });

  test("keeps the checks written once, even if the project's files change", async ({ project }) => {
    project.commit("package.json", '{"name":"x","scripts":{"test":"node --test"}}\n');
    await ok(project.pawl("install", "--yes", "--profile", "skills"));
    const first = readFileSync(join(project.path, CONFIG), "utf8");
    project.commit("package.json", '{"name":"x","scripts":{"test":"node --test","lint":"eslint ."}}\n');
    const again = await ok(project.pawl("install", "--yes", "--profile", "skills", "--json"));
    expect([again.json.data.install.written, again.json.data.install.proposed]).toEqual([[], null]);
    expect(readFileSync(join(project.path, CONFIG), "utf8")).toBe(first);
    await ok(project.pawl("install", "--yes", "--profile", "skills", "--commit"));
    expect(`${project.git("show", `main:${CONFIG}`)}\n`).toBe(first);
  });

  test("proposes no checks for a project that names none, and says so", async ({ project }) => {
    const { out } = await ok(project.pawl("install", "--yes"));
    expect(out).toContain("checks  none found in this project");
    expect(readFileSync(join(project.path, CONFIG), "utf8")).toContain("# checks:\n");
  });
});
