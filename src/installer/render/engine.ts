import Handlebars from "handlebars";

/** What a template may name; a test walks every template and refuses any other path. */
export interface Context {
  /** How `pawl` is run in the repository, without anything installed. */
  launcher: string;
  /** The skill that a file is about, where there is one per skill. */
  skill: string;
  /** In quotes: a user's own may hold anything. */
  description: string;
}

export const LAUNCHER = "node .pawl/pawl.cjs";

/**
 * Markdown must not be escaped, a name that is not there is a mistake, and templates hold no logic. A partial is put where
 * its name stands, in a line or as one; Handlebars would take the line's end away in the second case only.
 */
const OPTIONS = { noEscape: true, strict: true, knownHelpersOnly: true, ignoreStandalone: true } as const;

export function fill(
  template: string,
  partials: Readonly<Record<string, string>>,
  context: Partial<Context> = {},
): string {
  return engineWith(partials).compile(template, OPTIONS)({ launcher: LAUNCHER, ...context });
}

const engines = new WeakMap<object, typeof Handlebars>();

/** An engine compiles each of its partials once, so templates that share partials share it. */
function engineWith(partials: Readonly<Record<string, string>>): typeof Handlebars {
  const known = engines.get(partials);
  if (known) return known;
  const engine = Handlebars.create();
  for (const [name, text] of Object.entries(partials)) engine.registerPartial(name, text.trimEnd());
  engines.set(partials, engine);
  return engine;
}
