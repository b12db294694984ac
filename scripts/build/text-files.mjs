// Which files the program carries as text: hooks, templates, launchers, and what the page sends to browsers.
import { readFileSync } from "node:fs";

const pageScript = {
  name: "page-script",
  load(id) {
    if (!/web[\\/]assets[\\/]\w+\.js$/.test(id)) return undefined;
    return { code: readFileSync(id, "utf8"), moduleType: "text" };
  },
};

/** For every build of ours, published or of a test. */
export const textFiles = {
  moduleTypes: { ".sh": "text", ".hbs": "text", ".txt": "text", ".css": "text" },
  plugins: [pageScript],
};
