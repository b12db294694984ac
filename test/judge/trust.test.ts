import { expect, test } from "vitest";
import { judgeTrust, type TrustFacts, type Way, withTrusted } from "../../src/judge/trust.ts";
import type { TrustedRoute } from "../../src/model/records/run.ts";

const way = (change: Partial<Way> = {}): Way => {
  const plain = {
    name: "origin",
    address: "git@host:a.git",
    push: ["git@host:a.git"],
    settings: [],
    ...change,
  };
  const { name, address, push, settings } = plain;
  return {
    ...plain,
    digests: { address: `A ${address}`, way: `W ${[name, address, push, settings].join()}` },
  };
};
const record = (clone: string, of: Way, guarded = false): TrustedRoute => ({
  clone,
  remote: of.name,
  guarded,
  address: of.digests.address,
  way: of.digests.way,
});
const facts = (now: Way, change: Partial<TrustFacts> = {}): TrustFacts => ({
  routes: [{ ...now, never: undefined }],
  remembered: [],
  recorded: [],
  clone: "here",
  policy: undefined,
  copies: [],
  upstream: "origin",
  ...change,
});
const listed = (name: string, guarded = false) => [{ name, address: "git@host:a.git", guarded }];
const elsewhere = way({ address: "/evil.git", push: ["/evil.git"] });
const byShell = way({ settings: ["environment GIT_SSH=/usr/bin/ssh"] });
const proxied = way({ settings: ["core.sshcommand=/evil"] });

test.each<[string, TrustFacts, string]>([
  ["confirmed here, and as it was", facts(way(), { recorded: [record("here", way())] }), "trusted"],
  ["nobody was asked yet, and the branch follows it", facts(way()), "unconfirmed"],
  ["nobody was asked yet about another one", facts(way({ name: "fork" })), "untrusted"],
  [
    "another one was confirmed here",
    facts(way(), { recorded: [record("here", way({ name: "fork" }))] }),
    "untrusted",
  ],
  ["its address is another one", facts(elsewhere, { recorded: [record("here", way())] }), "changed"],
  ["it is asked in another way", facts(proxied, { recorded: [record("here", way())] }), "changed"],
  [
    "the shell asks it in another way",
    facts(way({ settings: ["environment GIT_SSH=/evil"] }), {
      recorded: [record("here", way())],
      remembered: [way()],
    }),
    "changed",
  ],
  [
    "another shell lacks a variable that the human's had",
    facts(way(), { recorded: [record("here", byShell)], remembered: [byShell] }),
    "trusted",
  ],
  [
    "the same, with nothing that remembers which one",
    facts(way(), { recorded: [record("here", byShell)] }),
    "changed",
  ],
  [
    "a setting is gone that the human's clone had",
    facts(way(), { recorded: [record("here", proxied)], remembered: [proxied] }),
    "changed",
  ],
  [
    "it is pushed elsewhere",
    facts(way({ push: ["/evil.git"] }), { recorded: [record("here", way())] }),
    "changed",
  ],
  ["its push address is gone", facts(way({ push: [] }), { recorded: [record("here", way())] }), "changed"],
  [
    "the file beside the hooks says so, and no record",
    facts(way(), { remembered: [way()], upstream: undefined }),
    "untrusted",
  ],
  [
    "another clone confirmed the same address",
    facts(way(), { recorded: [record("there", way())] }),
    "trusted",
  ],
  [
    "another clone confirmed the same address, which it asks in its own way",
    facts(way(), { recorded: [record("there", proxied)] }),
    "trusted",
  ],
  [
    "another clone confirmed another address",
    facts(elsewhere, { recorded: [record("there", way())] }),
    "unconfirmed",
  ],
  [
    "another clone's address, asked in another way",
    facts(proxied, { recorded: [record("there", way())] }),
    "unconfirmed",
  ],
  [
    "another clone's address under another name",
    facts(way({ name: "x" }), { recorded: [record("there", way())] }),
    "untrusted",
  ],
  [
    "confirmed, and not in the policy",
    facts(way(), { recorded: [record("here", way())], policy: [] }),
    "unlisted",
  ],
  [
    "confirmed, and in the policy",
    facts(way(), { recorded: [record("here", way())], policy: listed("origin") }),
    "trusted",
  ],
  ["in the policy, and nobody confirmed it", facts(way(), { policy: listed("origin") }), "unconfirmed"],
  ["followed, but the policy names another", facts(way(), { policy: listed("fork") }), "untrusted"],
  [
    "confirmed, and it became this repository",
    {
      ...facts(way(), { recorded: [record("here", way())] }),
      routes: [{ ...way(), never: "is this repository" }],
    },
    "never",
  ],
])("%s", (_name, given, standing) => {
  expect(judgeTrust(given).map((one) => one.standing)).toEqual([standing]);
});

test("what changed is told from what this clone remembers, and only where a record knows it", () => {
  const recorded = [record("here", way())];
  const why = (now: Way, remembered: Way[]) => judgeTrust(facts(now, { recorded, remembered }))[0]?.why;
  expect(why(elsewhere, [way()])).toBe("was git@host:a.git and is now /evil.git");
  expect(why(proxied, [way()])).toBe("is now reached differently: core.sshcommand=/evil");
  expect(why(way({ push: ["/evil.git"] }), [way()])).toContain("is now pushed to /evil.git");
  expect(why(elsewhere, [elsewhere])).toBeUndefined();
});

test("a remote is guarded when a human, the policy or any copy of it says so", () => {
  const guarded = (change: Partial<TrustFacts>) => judgeTrust(facts(way(), change))[0]?.guarded;
  expect(guarded({ recorded: [record("here", way())] })).toBe(false);
  expect(guarded({ recorded: [record("here", way(), true)] })).toBe(true);
  expect(guarded({ policy: listed("origin", true) })).toBe(true);
  expect(guarded({ copies: listed("origin", true) })).toBe(true);
  expect(guarded({ copies: listed("fork", true) })).toBe(false);
});

test("a clone's word replaces its own earlier one, and no other clone's", () => {
  const [mine, theirs] = [record("here", way()), record("there", way())];
  const again = { ...record("here", elsewhere) };
  expect(withTrusted([mine, theirs], "here", [again])).toEqual([theirs, again]);
  const known = [theirs, mine];
  expect(withTrusted(known, "here", [mine])).toBe(known);
});
