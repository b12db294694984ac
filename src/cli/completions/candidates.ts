import type { FieldInfo } from "../../model/input.ts";
import type { Command } from "../../ports/operation.ts";
import { optionName, optionsOf } from "../arguments.ts";

/** Where the words come from that can stand in a place. */
export interface Sources {
  commands: readonly Command[];
  /** Ids of the repository's records, each with its title. */
  tasks(): Promise<Candidate[]>;
  findings(): Promise<Candidate[]>;
}

export interface Candidate {
  word: string;
  describe: string;
}

/** Words, or what the shell itself knows best: files, or another program and its arguments. */
export type Offer = Candidate[] | "files" | "command";

/** What can stand where the cursor is: the last of the words after `pawl`, which may be empty. */
export async function candidatesFor(words: readonly string[], from: Sources): Promise<Offer> {
  const { before, current, prefix } = atCursor(words);
  const offer = await offerAt(before, current, from);
  if (typeof offer === "string") return offer;
  return offer
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, describe }) => ({ word: prefix + word, describe }));
}

/** `--status=act` is an option and what belongs to it; bash gives it as three words. */
function atCursor(words: readonly string[]) {
  const joined: string[] = [];
  for (const word of words.slice(0, -1)) if (word !== "=") joined.push(word);
  const last = words.at(-1) ?? "";
  const [, option, value] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  if (option === undefined) return { before: joined, current: last === "=" ? "" : last, prefix: "" };
  return { before: [...joined, option], current: value ?? "", prefix: `${option}=` };
}

async function offerAt(before: readonly string[], current: string, from: Sources): Promise<Offer> {
  const named = before.filter((word) => !word.startsWith("-"));
  const found = commandIn(named, from.commands);
  if (!found) return current.startsWith("-") ? TOP : nextWords(named, from.commands);
  const { command, used } = found;
  const options = optionsOf(command);
  const rest = before.slice(before.indexOf(named[used - 1] ?? "") + 1);
  if (rest.includes("--")) return command.cli?.rest ? "command" : [];
  const takesValue = (word: string) => {
    const info = options.get(word.slice(2))?.info;
    return word.startsWith("--") && info !== undefined && info.type !== "flag" ? info : undefined;
  };
  const last = rest.at(-1) ?? "";
  const awaited = takesValue(last);
  if (awaited) return valuesOf(last.slice(2), awaited, from);
  if (current.startsWith("-"))
    return [...options].map(([name, { info }]) => ({ word: `--${name}`, describe: info.describe }));
  const place = rest.filter((word, at) => !word.startsWith("-") && !takesValue(rest[at - 1] ?? "")).length;
  const positional = command.cli?.positional ?? [];
  const name = optionName(positional[place] ?? positional.at(-1) ?? "");
  const info = options.get(name)?.info;
  const isThere = place < positional.length || info?.type === "list";
  const below = place === 0 ? nextWords(named.slice(0, used), from.commands) : [];
  if (!info || !isThere) return below;
  const offer = await valuesOf(name, info, from);
  return typeof offer === "string" ? offer : [...below, ...offer];
}

const TOP: Candidate[] = [
  { word: "--help", describe: "show help" },
  { word: "--version", describe: "show the version" },
  { word: "--json", describe: "print one JSON object" },
];

function commandIn(named: readonly string[], commands: readonly Command[]) {
  for (const used of [2, 1]) {
    const command = named.length >= used && commands.find(({ id }) => id === named.slice(0, used).join("."));
    if (command && !command.internal) return { command, used };
  }
  return undefined;
}

/** The first words of all commands, or the second ones after a first; a group is described by its members. */
function nextWords(named: readonly string[], commands: readonly Command[]): Candidate[] {
  if (named.length > 1) return [];
  const shown = commands.filter(({ internal }) => !internal);
  const [first] = named;
  if (first !== undefined)
    return shown.flatMap(({ id, summary }) =>
      id.startsWith(`${first}.`) ? [{ word: id.slice(first.length + 1), describe: summary }] : [],
    );
  const groups = new Map<string, string[]>();
  for (const { id, summary } of shown) {
    const [word = "", second] = id.split(".");
    groups.set(word, [...(groups.get(word) ?? []), second ?? summary]);
  }
  return [...groups].map(([word, members]) => ({ word, describe: members.join(", ") }));
}

async function valuesOf(name: string, info: FieldInfo, from: Sources): Promise<Offer> {
  if (info.choices) return info.choices.map((word) => ({ word, describe: info.describe }));
  if (info.hint === "T") return from.tasks();
  if (name === "finding") return from.findings();
  return ["FILE", "PATH", "DIR"].includes(info.hint) ? "files" : [];
}
