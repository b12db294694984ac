import { jsonObject, type ProjectLook } from "./kinds.ts";

/** A list that leaves nothing out is none. */
const EVERYTHING = /^(?:\.?\/?|(?:\.?\/)?\*{1,2}(?:\/\*)?)$/;

/** In .npmignore: our folder, or everything whose name begins with a dot. */
const LEFT_OUT = /^\/?\.(?:pawl|\*)/m;

/** Whether `npm publish` would take what install writes into the package: npm packs all that git does not ignore, unless it is told what. */
export function isPackedByNpm(look: ProjectLook): boolean {
  const text = look.read("package.json");
  if (text === undefined || LEFT_OUT.test(look.read(".npmignore") ?? "")) return false;
  const { files, private: unpublished, name, version } = jsonObject(text);
  if (unpublished === true || name === undefined || version === undefined) return false;
  return !Array.isArray(files) || files.some((one) => typeof one === "string" && EVERYTHING.test(one));
}
