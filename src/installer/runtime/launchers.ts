import hook from "./launchers/hook.cjs.txt";
import program from "./launchers/pawl.cjs.txt";

const filled = (template: string, version: string) => template.replaceAll("@VERSION@", version);

/** What people, agents and MCP registrations start: the text differs between versions and in nothing else. */
export const programLauncher = (version: string) => ({ template: program, text: filled(program, version) });

/** What the agents' own hooks start. */
export const hookLauncher = (version: string) => ({ template: hook, text: filled(hook, version) });
