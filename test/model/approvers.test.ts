// @module-tag again
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Approver, printApprovers, readApprovers } from "../../src/model/approvers.ts";
import { fullYaml } from "../../src/model/markdown/full-yaml.ts";
import { canonical } from "../../src/model/statement.ts";
import { runs } from "../helpers/long-runs.ts";

const ssh: Approver = {
  name: 'Ada "the first" Lovelace: 1815',
  key: "ada-laptop",
  kind: "ssh",
  public: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB",
  level: "possession",
  id: undefined,
  alg: undefined,
  rp: undefined,
};
const passkey: Approver = {
  ...ssh,
  key: "ada-yubikey",
  kind: "webauthn",
  public: "MCowBQYDK2VwAyEA",
  level: "present",
  id: "GHPMTgLKLkvn",
  alg: "EdDSA",
  rp: "pawl.localhost",
};
const read = (text: string) => readApprovers("approvers.yaml", text, fullYaml);
const repository = "0123abcd".repeat(4);
const print = (approvers: Approver[]) => printApprovers({ repository, approvers });

describe("approvers.yaml", () => {
  test.each([[[]], [[ssh]], [[ssh, passkey]]])("is read as it was written", (approvers) => {
    expect(read(print(approvers))).toEqual({ repository, approvers });
  });

  const rows: [string, string, RegExp][] = [
    ["two keys of one name", print([ssh, { ...passkey, key: ssh.key }]), /same "key"/],
    ["one key enrolled twice", print([ssh, { ...ssh, key: "again" }]), /same "public"/],
    ["a passkey without its site", print([{ ...passkey, rp: undefined }]), /id, alg and rp/],
    ["an unknown word", `${print([ssh])}owner: me\n`, /"owner"/],
    ["an unknown level", print([ssh]).replace("possession", "certain"), /one of possession, present/],
    ["no name for the repository", print([ssh]).replace(/repository.*/, ""), /"repository"/],
    ["not YAML", "approvers: [", /YAML/],
    ["an anchor", "approvers: &a [*a]", /approvers.yaml/],
  ];
  test.each(rows)("%s is refused, with the file's name", (_, text, why) => {
    expect(() => read(text)).toThrow(why);
    expect(() => read(text)).toThrow(/approvers\.yaml/);
  });
});

describe("the canonical form", () => {
  test("is JSON that reads as the value, whatever the order of keys", () => {
    const value = fc
      .jsonValue({ maxDepth: 4, noUnicodeString: false })
      .map((one) => JSON.parse(JSON.stringify(one), whole));
    fc.assert(
      fc.property(value, (one) => {
        expect(JSON.parse(canonical(one))).toEqual(one);
        expect(canonical(reversed(one))).toBe(canonical(one));
      }),
      runs(100),
    );
  });

  test.each([[undefined], [Number.NaN], [1.5], [() => 1], [{ a: undefined }]])("%s has none", (value) => {
    expect(() => canonical(value)).toThrow();
  });
});

const whole = (_: string, value: unknown) =>
  typeof value === "number" ? Math.trunc(value % 1e9) || 0 : value;

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, reversed(one)]),
  );
}
