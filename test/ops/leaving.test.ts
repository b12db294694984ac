// @module-tag proof
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProject } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";
import {
  copySigned,
  keyFolder,
  makePublished,
  publish,
  type SignedProject,
} from "../helpers/signed-project.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const POLICY = "profile: light\nchecks: none\napprovals: signed\nlevel: possession\n";
const LEDGER = ".pawl/lock.json";

let folder: string;
let installed: SignedProject;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("leaving");
  installed = await makePublished(join(folder, "first"), "");
  const { home, ada } = installed;
  await ok(home.pawl("install", "--yes", "--profile", "skills", "--agents", "generic"));
  home.commit(".pawl/config.yaml", POLICY);
  await ok(installed.types("main", "unlock", "main", "--accept"));
  await ok(installed.types("ada", "approver", "add", "--name", "Ada", "--ssh", `${ada.file}.pub`));
  await publish(installed);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const copy = () => copySigned(installed, join(folder, `copy ${++copies}`));

/** The same clone, as a colleague has it who was never enrolled. */
function withoutKey(it: SignedProject): SignedProject {
  rmSync(keyFolder(it.root), { recursive: true });
  return it;
}

/** Somebody with the key approves a task that takes these files out. */
async function dropped(it: SignedProject, ...files: string[]): Promise<void> {
  const at = await it.ready("leave", "left.txt");
  const tree = openProject({ ...it.home, path: at });
  tree.git("rm", "-qf", ...files);
  tree.git("commit", "-q", "-m", "Leave pawl");
  await ok(it.types("T0001", "approve", "T1"));
}

test("while the policy demands a signature, whoever has no key is told who can remove pawl", async () => {
  const { json } = await withoutKey(copy()).types("yes", "uninstall");
  expect(json.error.code).toBe("no_key");
  expect(json.error.message).toContain("ada (Ada)");
  expect(json.error.hint).toContain("Once the project has dropped it");
});

test("once the project has dropped pawl by a signed change, a clone takes a typed yes and no key", async () => {
  const it = copy();
  // The policy was edited, so an uninstallation leaves it; the ledger is what goes.
  await dropped(it, LEDGER);
  const colleague = withoutKey(it);
  expect((await colleague.types("no", "uninstall", "--yes")).json.error.code).toBe("not_confirmed");
  await ok(colleague.types("yes", "uninstall"));
});

test("what nobody signed does not count: neither without the ledger nor without policy and keys", async () => {
  for (const files of [
    [LEDGER],
    [LEDGER, ".pawl/config.yaml"],
    [LEDGER, ".pawl/config.yaml", ".pawl/approvers.yaml"],
  ]) {
    const it = withoutKey(copy());
    it.git("rm", "-qf", ...files);
    it.git("commit", "-q", "-m", "Uninstall pawl");
    expect((await it.types("yes", "uninstall")).json.error?.code, files.join()).toBe("no_key");
  }
});

test("whoever removes pawl is told how its commit is explained to others, and CI believes it", async () => {
  const it = copy();
  const removed = await ok(it.types("yes", "uninstall"));
  expect(removed.json.next.command).toBe('git commit -a -m "Uninstall pawl"');
  expect(removed.json.warnings.join("\n")).toContain("pawl unlock main --accept");
  it.git("commit", "-qam", "Uninstall pawl");
  await ok(it.types("main", "unlock", "main", "--accept"));
  await publish(it);
  expect((await it.ci()).code).toBe(0);
});

test("a clone that pulled it says that the project has dropped pawl, and leads to uninstall", async () => {
  const it = copy();
  await ok(it.home.pawl("install", "--yes", "--profile", "hooks"));
  expect((await it.home.pawl("status", "--json")).json.next.command).not.toBe("pawl uninstall");
  await dropped(it, LEDGER);
  const { json } = await it.home.pawl("status", "--json");
  expect(json.next.command).toBe("pawl uninstall");
  expect(json.warnings.join("\n")).toContain("The project has dropped pawl: main");
});
