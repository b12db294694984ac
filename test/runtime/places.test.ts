import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { openProject, type Project, test } from "../helpers/command-line.ts";
import { askStateGit, stateOf } from "../helpers/temporary-repository.ts";

const ids = async (project: Project, folder: string) =>
  (await project.pawlIn(folder, {}, "task", "list", "--all", "--json")).json.data.tasks.map(
    (task: { id: string }) => task.id,
  );

describe("the same state is found", () => {
  test("from subfolders and linked worktrees, and written from there", async ({ project }) => {
    await project.pawl("task", "new", "One");
    mkdirSync(join(project.path, "deep", "er"), { recursive: true });
    const linked = join(dirname(project.path), "linked worktree");
    project.git("worktree", "add", "-q", linked, "-b", "side");
    expect(await ids(project, join(project.path, "deep", "er"))).toEqual(["T0001"]);
    expect(await ids(project, linked)).toEqual(["T0001"]);
    const made = await project.pawlIn(linked, {}, "task", "new", "Two", "--json");
    expect(made.json.data.task).toMatchObject({ id: "T0002", base_branch: "side", repo: "my project" });
    expect(await ids(project, project.path)).toEqual(["T0001", "T0002"]);
    expect(existsSync(join(linked, ".pawl"))).toBe(false);
  });

  test("in a bare repository with worktrees around it", async ({ project }) => {
    const root = join(dirname(project.path), "bare layout");
    const git = (cwd: string, ...args: string[]) =>
      execFileSync("git", args, { cwd, env: project.env, stdio: "pipe" });
    git(dirname(project.path), "clone", "-q", "--bare", project.path, join(root, ".bare"));
    writeFileSync(join(root, ".git"), "gitdir: ./.bare\n");
    git(root, "worktree", "add", "-q", "main", "main");
    git(root, "worktree", "add", "-q", "side", "-b", "side");
    await project.pawlIn(join(root, "main"), {}, "task", "new", "One");
    expect(await ids(project, join(root, "side"))).toEqual(["T0001"]);
    expect(await ids(project, root)).toEqual(["T0001"]);
    expect(readdirSync(join(root, ".bare", "pawl", "state", "tasks"))).toEqual(["T0001"]);
    expect(readdirSync(join(root, "main"))).not.toContain(".pawl");
    const status = (await project.pawlIn(join(root, "side"), {}, "status", "--json")).json.data.status;
    expect(status).toMatchObject({ repo: "bare layout", branch: "side" });
  });

  test("in a submodule, which has its own", async ({ project }) => {
    const inner = join(dirname(project.path), "inner");
    cpSync(project.path, inner, { recursive: true });
    await project.pawl("task", "new", "Outer");
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub");
    expect(await ids(project, join(project.path, "sub"))).toEqual([]);
    await project.pawlIn(join(project.path, "sub"), {}, "task", "new", "Inner");
    await project.pawlIn(join(project.path, "sub"), {}, "task", "new", "Inner two");
    expect(await ids(project, join(project.path, "sub"))).toEqual(["T0001", "T0002"]);
    expect(await ids(project, project.path)).toEqual(["T0001"]);
  });

  test("after the project was moved, and apart from its copy", async ({ project }) => {
    await project.pawl("task", "new", "One");
    const moved = join(dirname(project.path), "moved [away]");
    renameSync(project.path, moved);
    cpSync(moved, project.path, { recursive: true });
    await project.pawlIn(moved, {}, "task", "new", "Two");
    expect(await ids(project, moved)).toEqual(["T0001", "T0002"]);
    expect(await ids(project, project.path)).toEqual(["T0001"]);
    await project.pawl("task", "new", "Another two");
    expect(readdirSync(join(project.path, ".pawl", "state", "events"))).toHaveLength(2);
    const copy = openProject({ path: moved, env: project.env });
    expect(askStateGit(copy, "rev-list", "--count", "HEAD")).toBe("2");
  });

  test("on a detached head, an unborn branch and from a hook's environment", async ({ project }) => {
    project.git("checkout", "-q", "--detach");
    expect((await project.pawl("status", "--json")).json.data.status.branch).toBeUndefined();
    project.git("checkout", "-q", "--orphan", "fresh");
    const made = await project.pawl("task", "new", "One", "--json");
    expect(made.json.data.task.base_branch).toBe("fresh");
    expect(made.json.data.task.commit).toBeUndefined();
    const hook = { GIT_DIR: ".git", GIT_INDEX_FILE: ".git/index.elsewhere", GIT_WORK_TREE: "." };
    expect((await project.pawlIn(project.path, hook, "task", "new", "Two")).code).toBe(0);
    expect(existsSync(join(project.path, ".git", "index.elsewhere"))).toBe(false);
    expect(askStateGit(project, "ls-tree", "--name-only", "-r", "HEAD")).toContain("tasks/T0002/task.md");
  });
});

describe("the project itself", () => {
  test("never becomes dirty, and `git clean -fdx` leaves the state alone", async ({ project }) => {
    await project.pawl("task", "new", "One");
    expect(project.git("status", "--porcelain")).toBe("");
    project.git("clean", "-fdxq");
    expect(await ids(project, project.path)).toEqual(["T0001"]);
    project.git("checkout", "-q", "--orphan", "other");
    expect(project.git("status", "--porcelain", "--", ".pawl")).toBe("");
  });

  test("keeps its exclude file as it was, plus one line, whatever it ended with", async ({ project }) => {
    mkdirSync(join(project.path, ".git", "info"), { recursive: true });
    const exclude = join(project.path, ".git", "info", "exclude");
    writeFileSync(exclude, "*.log\n# mine, without a last newline");
    await project.pawl("task", "new", "One");
    await project.pawl("task", "new", "Two");
    expect(readFileSync(exclude, "utf8")).toBe("*.log\n# mine, without a last newline\n/.pawl/state/\n");
  });

  test("gets its state back when the folder was deleted, by reading or by writing", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("task", "update", "T1", "--status", "active");
    rmSync(stateOf(project), { recursive: true });
    const { json } = await project.pawl("task", "list", "--json");
    expect(json.data.tasks).toMatchObject([{ id: "T0001", status: "active" }]);
    expect(json.warnings[0]).toContain("restored from its history");
    project.git("clean", "-ffdxq");
    expect((await project.pawl("task", "new", "Two", "--json")).json.data.task.id).toBe("T0002");
    expect(await ids(project, project.path)).toEqual(["T0001", "T0002"]);
  });
});

describe("what is blocking the work is named, and nothing is lost", () => {
  test("a state folder that is a link", async ({ project }) => {
    const elsewhere = join(dirname(project.path), "elsewhere");
    mkdirSync(elsewhere);
    mkdirSync(join(project.path, ".pawl"));
    symlinkSync(elsewhere, stateOf(project));
    for (const argv of [
      ["task", "new", "One"],
      ["task", "list"],
    ]) {
      const { code, json } = await project.pawl(...argv, "--json");
      expect({ code, error: json.error.code }).toEqual({ code: 2, error: "state_misplaced" });
      expect(json.error.message).toContain(".pawl/state is a symbolic link");
    }
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("a file where the state folder belongs", async ({ project }) => {
    writeFileSync(join(project.path, ".pawl"), "mine\n");
    const { code, json } = await project.pawl("task", "new", "One", "--json");
    expect({ code, error: json.error.code }).toEqual({ code: 2, error: "state_misplaced" });
    expect(readFileSync(join(project.path, ".pawl"), "utf8")).toBe("mine\n");
  });

  test("a broken record: lists show the rest and warn, commands about it exit 2, nobody rewrites it", async ({
    project,
  }) => {
    for (const title of ["One", "Two", "Three"]) await project.pawl("task", "new", title);
    const path = join(stateOf(project), "tasks", "T0002", "task.md");
    const broken = project.read("tasks/T0002/task.md").replace("status: open", "status: opne");
    writeFileSync(path, broken.replace("---\n", "---\nformat: 2\n"));
    const newer = (await project.pawl("task", "update", "T2", "--title", "x", "--json")).json.error;
    expect([newer.code, newer.hint]).toEqual([
      "newer_record",
      expect.stringMatching(/^The record is fine.*node \.pawl\/get\.cjs/),
    ]);
    expect((await project.pawl("task", "list", "--json")).json.warnings).toEqual([
      expect.stringMatching(/T0002\/task\.md was written by a newer pawl: it has format 2/),
    ]);
    writeFileSync(path, broken);
    const doctor = await project.pawl("doctor", "--json");
    expect([doctor.code, doctor.json.data.doctor.diagnoses]).toEqual([
      1,
      expect.arrayContaining([expect.objectContaining({ level: "problem", where: "tasks/T0002/task.md" })]),
    ]);
    const list = await project.pawl("task", "list", "--json");
    expect(list.code).toBe(0);
    expect(list.json.data.tasks.map((task: { id: string }) => task.id)).toEqual(["T0001", "T0003"]);
    expect(list.json.warnings).toEqual([
      expect.stringContaining('.pawl/state/tasks/T0002/task.md: "status" needs one of open'),
    ]);
    expect((await project.pawl("status")).err).toContain("T0002/task.md");
    for (const argv of [
      ["task", "show", "T2"],
      ["task", "update", "T2", "--title", "x"],
      ["decide", "x", "--why", "y", "--task", "T2"],
    ]) {
      const { code, json } = await project.pawl(...argv, "--json");
      expect({ argv, code, error: json.error.code }).toEqual({ argv, code: 2, error: "broken_record" });
      expect(json.error.details).toMatchObject({ key: "status" });
    }
    expect(readFileSync(path, "utf8")).toBe(broken);
    expect((await project.pawl("task", "new", "Four", "--json")).json.data.task.id).toBe("T0004");
    const repaired = await project.pawlIn(
      project.path,
      { EDITOR: "sed -i s/opne/open/" },
      "task",
      "edit",
      "T2",
      "--json",
    );
    expect(repaired.json.data.task).toMatchObject({ id: "T0002", status: "open" });
  });

  test.each([
    ["truncated", (text: string) => text.slice(0, 40)],
    ["empty", () => ""],
    ["not UTF-8", () => Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe])],
    ["executable front matter", (text: string) => text.replace("---", "---js")],
  ])("a part that is %s", async (_name, damage) => {
    const { makeRepository, makeTemporaryFolder } = await import("../helpers/temporary-repository.ts");
    const root = makeTemporaryFolder("broken");
    const project = openProject(makeRepository(root));
    await project.pawl("task", "new", "One");
    for (const text of ["First", "Second"]) await project.pawl("decide", text, "--why", "so", "--task", "T1");
    const path = join(stateOf(project), "tasks", "T0001", "decisions", "D1.md");
    writeFileSync(path, damage(readFileSync(path, "utf8")));
    const { code, json } = await project.pawl("task", "show", "T1", "--json");
    expect(code).toBe(0);
    expect(json.data.decisions.map((one: { id: string }) => one.id)).toEqual(["T0001/D2"]);
    expect(json.warnings).toEqual([expect.stringContaining("decisions/D1.md")]);
    expect(
      (await project.pawl("decide", "Third", "--why", "so", "--task", "T1", "--json")).json.data.decision.id,
    ).toBe("T0001/D3");
    rmSync(root, { recursive: true });
  });

  test("a hand edit between two of our writes is kept byte for byte", async ({ project }) => {
    await project.pawl("task", "new", "One", "--objective", "first words");
    const path = join(stateOf(project), "tasks", "T0001", "task.md");
    const edited = readFileSync(path, "utf8")
      .replace("profile: standard", "profile: standard # because")
      .replace("first words\n", "first words\n\nand more of mine\n\n## Scratch\n\n- keep me\n");
    writeFileSync(path, edited);
    await project.pawl("task", "update", "T1", "--status", "active");
    const after = readFileSync(path, "utf8");
    const changed = edited.split("\n").filter((line, index) => line !== after.split("\n")[index]);
    expect(changed.map((line) => line.split(":")[0])).toEqual(["status", "rev", "updated"]);
    expect((await project.pawl("task", "show", "T1", "--json")).json.data.task.objective).toBe(
      "first words\n\nand more of mine",
    );
  });
});

test("the index deleted, damaged or locked: the next search gives the same answer", async ({ project }) => {
  await project.pawl("task", "new", "Retry uploads", "--objective", "Uploads survive a lost connection");
  await project.pawl("decide", "Retry in the client", "--why", "the server is not ours", "--task", "T1");
  await project.pawl("note", "add", "Uploads", "--text", "Retry-After is sent by the proxy");
  const search = async () => (await project.pawl("search", "retry", "--json")).json.data;
  const first = await search();
  expect(first.hits.map((hit: { id: string }) => hit.id).sort()).toEqual(["N0001", "T0001", "T0001/D1"]);
  expect(first.hits.some((hit: { snippet: string }) => hit.snippet.includes("**Retry**"))).toBe(true);
  const index = join(project.path, ".git", "pawl", "index.sqlite");
  expect(existsSync(index)).toBe(true);
  const damages: [string, () => void][] = [
    ["deleted", () => rmSync(index)],
    ["overwritten", () => writeFileSync(index, "nonsense ".repeat(5000))],
    ["empty", () => writeFileSync(index, "")],
    ["locked by a killed process", () => mkdirSync(`${index}.lock`)],
    [
      "a folder",
      () => {
        rmSync(index);
        mkdirSync(index);
      },
    ],
  ];
  for (const [name, damage] of damages) {
    damage();
    expect(await search(), name).toEqual(first);
  }
  await project.pawl("task", "update", "T1", "--title", "Try uploads again");
  const path = join(stateOf(project), "notes", "N0001.md");
  writeFileSync(path, readFileSync(path, "utf8").replace("Retry-After", "A header"));
  const later = (await search()).hits.map((hit: { id: string }) => hit.id);
  expect(later).toEqual(["T0001/D1"]);
  const filtered = await project.pawl(
    "search",
    "uploads",
    "--kind",
    "task",
    "--status",
    "open",
    "--task",
    "T1",
    "--json",
  );
  expect(filtered.json.data.hits.map((hit: { id: string }) => hit.id)).toEqual(["T0001"]);
});
