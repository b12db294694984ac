import get from "./launchers/get.cjs.txt";
import hook from "./launchers/hook.cjs.txt";
import program from "./launchers/pawl.cjs.txt";

const filled = (template: string, version: string) => template.replaceAll("@VERSION@", version);

/** What people, agents and MCP registrations start: the text differs between versions and in nothing else. */
export const programLauncher = (version: string) => ({ template: program, text: filled(program, version) });

/** What a clone without a program gets it with, and what CI and servers get theirs with. */
export const packageGetter = (version: string) => ({ template: get, text: filled(get, version) });

/** What the agents' own hooks start. */
export const hookLauncher = (version: string) => ({ template: hook, text: filled(hook, version) });
