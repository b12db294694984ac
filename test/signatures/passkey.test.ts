import { describe, expect, test } from "vitest";
import type { Approver, Level } from "../../src/model/approvers.ts";
import type { Assertion } from "../../src/model/signature.ts";
import type { Statement } from "../../src/model/statement.ts";
import { digestOf, verifySignature } from "../../src/signatures/verify.ts";
import { answer, makePasskey } from "../helpers/software-passkey.ts";

const statement: Statement = {
  kind: "unlock",
  record: "77",
  repos: [{ id: "r-1", ref: "refs/heads/main", old: "a".repeat(40), until: "2026-11-17T10:00:00.000Z" }],
};
const digest = digestOf(statement);
const check = (
  passkey: Assertion,
  approver: Approver,
  wanted: Level = "present",
  about: Statement = statement,
) => verifySignature(about, { passkey }, [approver], wanted);

describe.each(["ES256", "EdDSA", "RS256"] as const)("a passkey with %s", (alg) => {
  const key = makePasskey(alg);
  const signed = answer(key, digest);

  test("proves that somebody was there", () => {
    expect(check(signed, key.approver)).toEqual({
      ok: true,
      name: "Ada",
      key: key.approver.key,
      level: "present",
    });
  });

  test("no character of what is kept can be another", () => {
    for (const [part, text] of Object.entries(signed))
      for (let at = 0; at < text.length; at++) {
        const changed = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
        expect(check({ ...signed, [part]: changed }, key.approver).ok, `${part} ${at}`).toBe(false);
      }
  });
});

describe("an answer", () => {
  const key = makePasskey("ES256");
  const rows: [string, Assertion, string][] = [
    ["to another statement", answer(key, digestOf({ ...statement, record: "78" })), "wrong_statement"],
    ["from a page elsewhere", answer(key, digest, { origin: "http://evil.example" }), "wrong_origin"],
    [
      "from a page of a similar name",
      answer(key, digest, { origin: "http://pawl.localhost.evil" }),
      "wrong_origin",
    ],
    [
      "from https, which we never serve",
      answer(key, digest, { origin: "https://pawl.localhost" }),
      "wrong_origin",
    ],
    [
      "from inside another site's frame",
      answer(key, digest, { client: { crossOrigin: true } }),
      "wrong_origin",
    ],
    ["for another site", answer(key, digest, { site: "localhost" }), "wrong_origin"],
    ["to an enrolment", answer(key, digest, { client: { type: "webauthn.create" } }), "malformed"],
    ["without a touch", answer(key, digest, { flags: 0x04 }), "not_present"],
    ["without PIN or finger", answer(key, digest, { flags: 0x01 }), "not_verified"],
    [
      "of another key under the same id",
      { ...answer({ ...makePasskey("ES256"), approver: key.approver }, digest) },
      "bad_signature",
    ],
    ["of a passkey nobody enrolled", answer(makePasskey("ES256"), digest), "unknown_key"],
    ["with an empty signature", { ...answer(key, digest), signature: "" }, "malformed"],
    [
      "with nothing from the authenticator",
      { ...answer(key, digest), authenticator_data: "AA" },
      "malformed",
    ],
    ["with a browser's part that is not JSON", { ...answer(key, digest), client_data: "AAAA" }, "malformed"],
  ];
  test.each(rows)("%s is refused", (_, passkey, code) => {
    expect(check(passkey, key.approver)).toMatchObject({ ok: false, code });
  });

  test("from any port of ours is accepted, because ports change and the name does not", () => {
    expect(check(answer(key, digest, { origin: "http://pawl.localhost:9" }), key.approver).ok).toBe(true);
  });

  test("without PIN proves possession where the key was enrolled for no more", () => {
    const lax: Approver = { ...key.approver, level: "possession" };
    const touched = answer(key, digest, { flags: 0x01 });
    expect(check(touched, lax, "possession")).toMatchObject({ ok: true, level: "possession" });
    expect(check(touched, lax, "present")).toMatchObject({ code: "level_too_low" });
  });
});
