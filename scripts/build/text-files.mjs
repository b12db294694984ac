// Which files the program carries as text: hooks, templates, launchers, and what the page sends to browsers.
import { readFileSync } from "node:fs";

/** In base64: who looks at the package takes a file with an `export` in one of its texts for an ES module. */
const pageScript = {
  name: "page-script",
  load(id) {
    if (!/web[\\/]assets[\\/]\w+\.js$/.test(id)) return undefined;
    const text = JSON.stringify(readFileSync(id, "base64"));
    return { code: `export default Buffer.from(${text}, "base64").toString();`, moduleType: "js" };
  },
};

/** For every build of ours, published or of a test. */
export const textFiles = {
  moduleTypes: { ".sh": "text", ".hbs": "text", ".txt": "text", ".css": "text" },
  plugins: [pageScript],
};
