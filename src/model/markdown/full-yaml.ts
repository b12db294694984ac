import { parseDocument } from "yaml";
import type { FullYaml } from "../record.ts";
import type { HeaderValue } from "./header-value.ts";

/** The full parser, for headers that somebody styled by hand. Failsafe: every scalar stays the text it is. */
export const fullYaml: FullYaml = (header) => {
  const document = parseDocument(header, { schema: "failsafe", uniqueKeys: true, prettyErrors: true });
  const problem = document.errors[0];
  if (problem) throw new Error(problem.message);
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  if (value === null || value === undefined) return new Map();
  if (typeof value !== "object" || Array.isArray(value)) throw new Error("keys with values are expected");
  return new Map(Object.entries(value).map(([key, one]) => [key, plain(one)]));
};

function plain(value: unknown): HeaderValue {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  return String(value);
}
