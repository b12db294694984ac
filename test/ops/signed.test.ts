import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copySigned, makeSigned, publish, type SignedProject } from "../helpers/signed-project.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const POLICY = "profile: light\napprovals: signed\nlevel: possession\n";

let folder: string;
let project: SignedProject;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("signed");
  project = await makeSigned(join(folder, "first"), POLICY);
  await project.ready("one");
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = () => copySigned(project, join(folder, `copy ${++copies}`));

describe("an approval under `approvals: signed`", () => {
  test("is signed, checked and explained, here and in a bare clone without a network", async () => {
    const it = fresh();
    const done = await it.types("T0001", "approve", "T1");
    expect(done.json.error ?? done.code).toBe(0);
    expect(done.json.data.approval.how).toBe("signed by Ada with ada (possession)");
    expect((await it.audit()).result.json.data.audit.clean).toBe(true);
    await publish(it);
    const ci = await it.ci();
    expect(ci.result.json.error ?? ci.result.json.data.audit.clean).toBe(true);
    expect(ci.counts).toMatchObject({ approved: 1, unexplained: 0 });
  });
});
