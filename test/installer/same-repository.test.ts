// @module-tag proof
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProject, type Project } from "../helpers/command-line.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
beforeAll(() => {
  root = makeTemporaryFolder("same repository");
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const ok = async (call: ReturnType<Project["pawl"]>) => {
  const done = await call;
  expect(done.code, done.err).toBe(0);
  return done;
};

const homesIn = async (project: Project) => {
  const { json } = await ok(project.pawl("repo", "list", "--json"));
  return json.data.repos.map((one: { name: string }) => one.name);
};

/** A project with a bare remote, and another clone of it in a folder of another name. */
function published(name: string): { project: Project; clone: () => Project } {
  const folder = join(root, name);
  execFileSync("mkdir", [folder]);
  const project = openProject(makeRepository(folder, "express"));
  project.git("init", "-q", "-b", "main", "--bare", join(folder, "origin.git"));
  project.git("remote", "add", "origin", join(folder, "origin.git"));
  project.git("push", "-q", "-u", "origin", "main");
  return {
    project,
    clone() {
      const path = join(folder, "mate");
      project.git("clone", "-q", join(folder, "origin.git"), path);
      return openProject({ ...project, path });
    },
  };
}

test("a clone in a folder of another name is recognised by its published records", async () => {
  const { project, clone } = published("by records");
  await ok(project.pawl("install", "--profile", "hooks", "--yes"));
  await ok(project.pawl("task", "new", "One"));
  await ok(project.pawl("sync", "--yes"));
  const mate = clone();
  await ok(mate.pawl("install", "--profile", "hooks", "--yes"));
  await ok(mate.pawl("sync", "--yes"));
  expect(await homesIn(mate)).toEqual(["express"]);
  await ok(project.pawl("sync", "--yes"));
  expect(await homesIn(project)).toEqual(["express"]);
  expect((await ok(mate.pawl("audit"))).out).toContain("explained");
});

test("before anything is published, it is recognised by the project's files", async () => {
  const { project, clone } = published("by files");
  await ok(project.pawl("install", "--agents", "generic", "--yes", "--commit"));
  const ledger = JSON.parse(readFileSync(join(project.path, ".pawl/lock.json"), "utf8"));
  expect(ledger.repository).toBe("express");
  project.git(
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "hook.pawl.enabled=false",
    "push",
    "-q",
    "origin",
    "main",
  );
  const mate = clone();
  await ok(mate.pawl("install", "--yes"));
  expect(mate.git("status", "--porcelain")).toBe("");
  expect(await homesIn(mate)).toEqual(["express"]);
});

test("the first install adds the trusted remote to the policy and commits it", async () => {
  const folder = join(root, "policy");
  execFileSync("mkdir", [folder]);
  const project = openProject(makeRepository(folder));
  const address = "https://example.com/team/express.git";
  project.git("remote", "add", "origin", address);
  await ok(project.pawl("install", "--agents", "generic", "--yes", "--commit"));
  expect(project.git("show", "main:.pawl/config.yaml")).toMatch(
    /\nremotes:\n {2}- name: origin\n {4}address: "https:\/\/example\.com\/team\/express\.git"$/,
  );
  const { json } = await ok(project.pawl("remote", "list", "--json"));
  expect(json.data.remotes).toMatchObject([{ name: "origin", standing: "trusted", address }]);
  project.git("remote", "add", "other", "https://example.com/other.git");
  const listed = await ok(project.pawl("remote", "list", "--json"));
  expect(listed.json.data.remotes[1]).toMatchObject({ name: "other", standing: "untrusted" });
});
