// @module-tag again
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ADAPTERS, SHARED } from "../../../src/installer/adapters.ts";
import { mergeThree } from "../../../src/installer/render/merge.ts";
import {
  basePath,
  type Override,
  overridePath,
  printOverride,
  readOverride,
} from "../../../src/installer/render/override-file.ts";
import { applyOverrides, digestOf, settle } from "../../../src/installer/render/overrides.ts";
import {
  renderSkills,
  type Skill,
  skillDescription,
  upstreamSkills,
} from "../../../src/installer/render/skills.ts";
import { runs } from "../../helpers/long-runs.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const skill = (body: string, name = "tdd"): Skill => ({
  name,
  text: `---\nname: "${name}"\ndescription: "About ${name}."\nargument-hint: "[x]"\n---\n\n${body}`,
});

const OLD = skill("one\n\ntwo\n\nthree\n");
const NEW = skill("one\n\ntwo\n\nthree\n\nfour\n");
const YOURS = skill("ONE\n\ntwo\n\nthree\n").text;

function override(mode: Override["mode"], text = YOURS, base = OLD.text): Override {
  if (mode === "add") return { name: "tdd", mode, text };
  return { name: "tdd", mode, text, upstream: digestOf(base, sha256), base };
}

const apply = (upstream: Skill[], one: Override) => {
  const { skills, reports } = applyOverrides(upstream, [one], sha256);
  expect(reports.length).toBe(1);
  return {
    text: skills.find(({ name }) => name === "tdd")?.text,
    state: reports[0]?.state,
    report: reports[0],
  };
};

describe("what is written and reported", () => {
  const merged = skill("ONE\n\ntwo\n\nthree\n\nfour\n").text;
  const clash = skill("uno\n\ntwo\n\nthree\n");
  test.each<[string, Override, Skill[], string | undefined, string]>([
    ["replace, upstream as it was", override("replace"), [OLD], YOURS, "applied"],
    ["replace, upstream changed", override("replace"), [NEW], YOURS, "upstream_changed"],
    ["replace, upstream gone", override("replace"), [], YOURS, "upstream_gone"],
    ["patch, upstream as it was", override("patch"), [OLD], YOURS, "applied"],
    ["patch, upstream changed elsewhere", override("patch"), [NEW], merged, "merged"],
    ["patch, upstream changed the same line", override("patch"), [clash], YOURS, "conflict"],
    ["patch, upstream made the same change", override("patch"), [{ ...OLD, text: YOURS }], YOURS, "merged"],
    ["patch, base edited", { ...override("patch"), base: "edited" }, [NEW], YOURS, "conflict"],
    [
      "patch, base edited to hide a change",
      { ...override("patch"), base: NEW.text },
      [NEW],
      YOURS,
      "conflict",
    ],
    ["patch, base lost", { ...override("patch"), base: undefined }, [NEW], YOURS, "conflict"],
    ["disable, upstream as it was", override("disable", "not here"), [OLD], undefined, "applied"],
    ["disable, upstream changed", override("disable", "not here"), [NEW], undefined, "upstream_changed"],
    ["disable, upstream gone", override("disable", "not here"), [], undefined, "upstream_gone"],
    ["add", override("add"), [], YOURS, "applied"],
    ["add, upstream has one by now", override("add"), [OLD], YOURS, "upstream_has_one"],
  ])("%s", (_title, one, upstream, text, state) => {
    const other = skill("other\n", "scope");
    const result = apply([other, ...upstream], one);
    expect([result.text, result.state]).toEqual([text, state]);
    expect(applyOverrides([other, ...upstream], [one], sha256).skills[0]).toEqual(other);
  });

  test("a conflict has both sides and the base, and the written text has no conflict marks", () => {
    const { report, text } = apply([clash], override("patch"));
    expect(report).toMatchObject({ base: OLD.text, yours: YOURS, upstream: clash.text });
    expect(report?.state === "conflict" && report.marked).toContain(
      "<<<<<<< yours\nONE\n||||||| before\none\n=======\nuno\n>>>>>>> pawl",
    );
    expect(text).not.toContain("<<<<<<<");
  });

  test("a merged override settles into one that is simply applied", () => {
    const { report, text } = apply([NEW], override("patch"));
    const settled = report?.state === "merged" ? report.settled : undefined;
    expect(settled && apply([NEW], settled)).toMatchObject({ text, state: "applied" });
    expect(apply([NEW], settle(override("disable", "no"), NEW.text, sha256)).state).toBe("applied");
  });

  test("without overrides nothing changes", () => {
    const all = upstreamSkills(SHARED);
    expect(applyOverrides(all, [], sha256)).toEqual({ skills: all, reports: [] });
  });
});

test("the user's text is written unchanged everywhere, without keys that only one agent knows", () => {
  const [claude, shared] = [ADAPTERS.claude, SHARED].map(
    (adapter) => renderSkills(adapter, [{ ...skill("{{ secrets.X }} {{> gate}}\n"), own: true }])[0]?.text,
  );
  expect(claude).toContain('argument-hint: "[x]"');
  expect(shared).not.toContain("argument-hint");
  for (const text of [claude, shared]) expect(text).toMatch(/-->\n\n\{\{ secrets\.X \}\} \{\{> gate\}\}\n$/);
});

describe("files", () => {
  test.each(["replace", "patch", "add", "disable"] as const)("%s is read back as written", (mode) => {
    const one = override(mode, mode === "disable" ? "We have our own way." : YOURS);
    const files = printOverride(one);
    const file = files.get(overridePath("tdd")) ?? "";
    expect(readOverride("tdd", file, files.get(basePath("tdd")))).toEqual(one);
    expect(file.startsWith(`---\nmode: "${mode}"\n`)).toBe(true);
    const windows = `\uFEFF${file.replaceAll("\n", "\r\n")}`;
    expect(readOverride("tdd", windows, files.get(basePath("tdd"))?.replaceAll("\n", "\r\n"))).toEqual(one);
  });

  const good = printOverride(override("patch")).get(overridePath("tdd")) ?? "";
  test.each<[string, string, RegExp]>([
    ["no header", "just text\n", /must start with a line that is exactly `---`/],
    ["unknown mode", good.replace("patch", "edit"), /"mode" must be one of/],
    ["no digest", good.replace(/upstream: .*\n/, ""), /"upstream" must be the digest/],
    ["another name", good.replace('name: "tdd"', 'name: "tdd2"'), /"name" in its header/],
    ["no description", good.replace(/description: .*\n/, ""), /needs a "description"/],
    ["empty description", good.replace(/description: .*/, "description: >-\n"), /needs a "description"/],
    ["long description", good.replace("About", "About ".repeat(300)), /at most 1024 characters/],
    ["description that is a list", good.replace(/description: .*/, "description: [a]"), /needs a "desc/],
    ["a header that is not closed", good.replace("\n---\n", "\n"), /not closed by a line/],
    ["a key twice", good.replace("name:", 'name: "tdd"\nname:'), /Map keys must be unique/],
    ["broken YAML", good.replace("name:", "name: [\nx:"), /its header cannot be read/],
    ["a header to be run as code", good.replace("---\n", "---js\n"), /exactly `---`/],
    ["a header in JSON", good.replace("---\n", "---json\n"), /exactly `---`/],
    ["a header in what every object has", good.replace("---\n", "---constructor\n"), /exactly `---`/],
    [
      "a header in braces",
      '---\n{mode: add, name: tdd, description: "About it."}\n---\n\nText.\n',
      /Each key has to begin a line of its own, at the margin/,
    ],
    [
      "a key after a question mark",
      good.replace("mode: ", "? mode\n: "),
      /Each key has to begin a line of its own, at the margin/,
    ],
    ["unfinished merge", `${good}<<<<<<< yours\n`, /conflict markers/],
  ])("%s is refused by name", (_title, file, why) => {
    expect(() => readOverride("tdd", file, undefined)).toThrow(why);
    expect(() => readOverride("tdd", file, undefined)).toThrow(".pawl/overrides/skills/tdd/override.md");
  });

  test.each(["../tdd", "Tdd", "a--b", "-a", ""])("a folder called %j is not a skill", (name) => {
    expect(() => readOverride(name, good.replace('name: "tdd"', `name: "${name}"`), undefined)).toThrow(
      "folder's name",
    );
  });
});

const line = fc.constantFrom("a", "b", "c", "", "- d", "1. e");
const lines = fc.array(line, { maxLength: 12 });

test("a merge keeps what each side added, whatever else both changed", () => {
  fc.assert(
    fc.property(lines, lines, lines, (base, yours, theirs) => {
      const [one, other] = [[...yours, "MINE"].join("\n"), ["THEIRS", ...theirs].join("\n")];
      const { text, conflicts } = mergeThree(base.join("\n"), one, other);
      expect(text.split("\n")).toEqual(expect.arrayContaining(["MINE", "THEIRS"]));
      expect(conflicts > 0).toBe(text.includes("<<<<<<< yours"));
    }),
    runs(100),
  );
});

test("a side without changes takes the other's", () => {
  fc.assert(
    fc.property(lines, lines, (base, changed) => {
      const [one, other] = [base.join("\n"), changed.join("\n")];
      expect(mergeThree(one, one, other)).toEqual({ text: other, conflicts: 0 });
      expect(mergeThree(one, other, one)).toEqual({ text: other, conflicts: 0 });
    }),
    runs(100),
  );
});

describe("the header of a skill", () => {
  const withHeader = (...lines: string[]) => `---\nmode: add\nname: tdd\n${lines.join("\n")}\n---\n\nText.\n`;
  const described = (...lines: string[]) => {
    const { text } = readOverride("tdd", withHeader(...lines), undefined);
    return skillDescription({ name: "tdd", text });
  };

  test.each<[string, string[], string]>([
    ["plain", ["description: About it."], "About it."],
    ["folded", ["description: >-", "  About it,", "  at length."], "About it, at length."],
    ["literal", ["description: |", "  About it.", "  Use when …"], "About it.\nUse when …"],
    ["quoted over lines", ['description: "About it,', '  at length."'], "About it, at length."],
    ["plain over lines", ["description: About it,", "  at length."], "About it, at length."],
    ["in words that other tools take for values", ["description: yes"], "yes"],
    ["a date", ["description: 2024-01-01"], "2024-01-01"],
    ["a hash that looks like a number", ["description: 1234e567"], "1234e567"],
  ])("its description may be %s", (_, lines, expected) => {
    expect(described(...lines)).toBe(expected);
  });

  test("is written unchanged, without keys that an agent does not know, however long they are", () => {
    const kept = ["description: >-", "  About it,", "  at length.", "# mine", "metadata:", "  a: [1]"];
    const file = withHeader("argument-hint: >-", "  [one]", "", "  [two]", ...kept);
    const { text } = readOverride("tdd", file, undefined);
    const [claude, shared] = [ADAPTERS.claude, SHARED].map(
      (adapter) => renderSkills(adapter, [{ name: "tdd", text, own: true }])[0]?.text ?? "",
    );
    expect(claude).toContain("argument-hint: >-\n  [one]\n\n  [two]\ndescription: >-\n");
    expect(shared?.startsWith(`---\nname: tdd\n${kept.join("\n")}\n---\n`)).toBe(true);
  });

  test.each<[string, string[]]>([
    ["plainly", ["mode: add"]],
    ["with a space before the colon", ["mode : add"]],
    ["in quotes", ['"mode" : "add"']],
    ["with escapes", ['"m\\u006fde": add']],
    ["with a tab after the colon", ["mode:\tadd"]],
    ["with its value below", ["mode:", "  add"]],
    ["as a block", ["mode: >-", "", "  add"]],
    ["with a tag and a comment", ["mode: !!str add # ours"]],
    ["with blank space below", ["mode: add", "", "\t", ""]],
  ])("our own keys are read and left out if they are written %s", (_, mode) => {
    const kept = ["name: tdd", "# mine", "description: About it.", "metadata:", "  mode: add"];
    for (const header of [
      [...mode, ...kept],
      [...kept, ...mode],
    ]) {
      const { text } = readOverride("tdd", `---\n${header.join("\n")}\n---\n\nText.\n`, undefined);
      expect(text).toBe(`---\n${kept.join("\n")}\n---\n\nText.\n`);
    }
  });

  test("fails every time it is read if it is broken", () => {
    const broken = withHeader("description: [");
    for (const _ of [1, 2, 3]) expect(() => readOverride("tdd", broken, undefined)).toThrow(/cannot be read/);
  });

  test("is never executed", () => {
    const file = `---js\n{ get mode() { globalThis.ran = true; return "add"; } }\n---\n`;
    expect(() => readOverride("tdd", file, undefined)).toThrow(/exactly `---`/);
    expect("ran" in globalThis).toBe(false);
  });
});
