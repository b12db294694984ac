import { readdirSync } from "node:fs";
import { root } from "./read-markdown.ts";

/** Every page that users or contributors read. */
export const PAGES = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(`${root}/docs`)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
