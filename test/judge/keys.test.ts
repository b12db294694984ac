import { expect, test } from "vitest";
import { judgeDecided, type Keys } from "../../src/judge/keys.ts";
import type { Approver } from "../../src/model/approvers.ts";
import type { Decided } from "../../src/model/records/unlock.ts";

const BY = { name: "Ada", key: "ada", level: "possession" } as const;
const ADA: Approver = {
  ...{ ...BY, kind: "ssh", public: "ssh-ed25519 AAAA" },
  ...{ id: undefined, alg: undefined, rp: undefined },
};
const SIGNED: Keys = {
  ...{ id: "shop", approvers: [ADA], broken: false, unreadable: false, signed: true, level: "possession" },
  ...{ guarded: new Set(), digests: { policy: "", approvers: "" } },
};
const DECIDED: Decided = {
  ...{ about: "uninstall", ours: undefined, theirs: undefined, keep_ours: [], keep_theirs: [] },
  branches: ["main", "release"].map((name) => ({ ref: `refs/heads/${name}`, tip: "c1" })),
};
const SIGNATURE = { ...BY, about: "uninstall", repo: undefined, ssh: "x", passkey: undefined } as const;

test("a decision counts as signed only if each branch that it names wanted a signature then", () => {
  const record = { uid: "u1", signatures: [SIGNATURE], decided: DECIDED };
  const judged = (...keys: Keys[]) => judgeDecided(record, keys, () => ({ ok: true, ...BY })).ok;
  expect(judged(SIGNED, SIGNED)).toBe(true);
  expect(judged(SIGNED, { ...SIGNED, signed: false })).toBe(false);
  expect(judged()).toBe(false);
});
