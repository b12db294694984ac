/**
 * citty describes commands and renders their usage; it is loaded where somebody asks for help. This is the one place that
 * knows the ways of citty 0.2.2:
 *
 * - Its parser drops the value of `--title --no-verify`, keeps only the last of a repeated option, and lets unknown ones
 *   pass; options before a command's name are lost, `constructor` is a command to it, and for a name that it does not know
 *   it loads every command to look for an alias. So `command-words.ts` finds the command that was named, and
 *   `arguments.ts` reads its words: a line that runs never comes here.
 * - It colours by its own idea of the environment. Colours are taken out where ours are off.
 */
import { type ArgDef, type ArgsDef, type CommandDef, defineCommand, renderUsage } from "citty";
import type { FieldInfo } from "../model/input.ts";
import type { Command } from "../ports/operation.ts";
import { COMMON, optionName, optionsOf } from "./arguments.ts";

type Children = Record<string, () => Promise<CommandDef>>;
type MakeLeaf = (id: string) => Promise<CommandDef>;

function groupOf(members: readonly string[], first: string, leaf: MakeLeaf): CommandDef {
  const children: Children = Object.create(null);
  for (const id of members) children[id.slice(first.length + 1)] = () => leaf(id);
  const meta = { name: `pawl ${first}`, description: "Commands that begin with these words" };
  return defineCommand({ meta, subCommands: children });
}

function metaOf(command: Command) {
  const name = command.id.split(".").at(-1) ?? "";
  return { name, description: command.summary, hidden: command.internal === true };
}

/** How a command is called, or the commands of a group; only what is shown is loaded. */
export async function usage(
  ids: readonly string[],
  id: string,
  load: (id: string) => Promise<Command>,
  coloured: boolean,
): Promise<string> {
  const described = async (named: string) => {
    const command = await load(named);
    return defineCommand({ meta: metaOf(command), args: argumentsOf(command) });
  };
  const [first = ""] = id.split(".");
  const members = ids.filter((one) => one.startsWith(`${id}.`));
  const below = members.length > 0 ? groupOf(members, id, described) : undefined;
  const own = ids.includes(id) ? await described(id) : undefined;
  const parent = defineCommand({ meta: { name: own && id.includes(".") ? `pawl ${first}` : "pawl" } });
  const shown = own
    ? defineCommand({ ...own, ...(below?.subCommands ? { subCommands: below.subCommands } : {}) })
    : below;
  if (!shown) throw new Error(`There is no command "${id}"`);
  const text = (await renderUsage(shown, own ? parent : undefined)).trimEnd();
  return (coloured ? text : text.replace(COLOURS, "")).replace(/ +$/gm, "");
}

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");

/** The arguments of a command as citty describes them; those that have a place come first. */
function argumentsOf(command: Command): ArgsDef {
  const options = optionsOf(command);
  const args: ArgsDef = {};
  const placed = (command.cli?.positional ?? []).map(optionName);
  for (const name of placed) {
    const info = options.get(name)?.info;
    if (info) args[info.type === "list" ? `${name}…` : name] = positional(name, info);
  }
  for (const [name, { info }] of options)
    if (!(name in COMMON) && !placed.includes(name)) args[name] = option(info);
  const { rest } = command.cli ?? {};
  if (rest) args["-- cmd…"] = { type: "positional", required: false, description: "the command to run" };
  return args;
}

function positional(name: string, { describe, required, choices }: FieldInfo): ArgDef {
  const values = choices ? `${choices.join("|")}; ` : "";
  return { type: "positional", required, description: `${values}${describe} (or --${name})` };
}

function option({ type, describe, hint, choices, required }: FieldInfo): ArgDef {
  const description = type === "list" ? `${describe}; may be repeated` : describe;
  if (type === "flag") return { type: "boolean", description };
  if (choices) return { type: "enum", options: [...choices], description, required };
  return { type: "string", valueHint: hint, description, required };
}
