import { type GitLine, hasLong, parseArguments } from "../git-line.ts";
import type { Refusal } from "../refusal.ts";
import type { ShellCommand } from "../shell/command.ts";

const RULE = "Hooks stay on.";
const WAY = "Run it without that. If a hook objects, do what it says or ask the person you work for.";

const refuse = (fact: string): Refusal => ({ rule: RULE, fact, way: WAY });

/** Subcommands that skip hooks when they are asked to, and the options of theirs that take a value. */
const VERIFYING: Readonly<Record<string, Parameters<typeof parseArguments>[1]>> = {
  commit: {
    letters: "mFcCt",
    attached: "Su",
    longs: [
      "--message",
      "--file",
      "--reuse-message",
      "--reedit-message",
      "--template",
      "--author",
      "--date",
      "--cleanup",
      "--fixup",
      "--squash",
      "--trailer",
      "--pathspec-from-file",
    ],
  },
  push: { letters: "o", longs: ["--repo", "--push-option", "--receive-pack", "--exec"] },
  merge: { letters: "mFsX", attached: "S", longs: ["--message", "--file", "--strategy", "--into-name"] },
  pull: { letters: "sX", attached: "S", longs: ["--strategy", "--strategy-option"] },
  rebase: { letters: "sXxC", attached: "S", longs: ["--onto", "--exec", "--strategy", "--whitespace"] },
  am: { letters: "pC", attached: "S", longs: ["--directory", "--exclude", "--include", "--patch-format"] },
};

/** Letters that mean --no-verify. */
const NO_VERIFY_LETTER: Readonly<Record<string, string>> = { commit: "n", am: "n" };

/** Variables that switch other tools' hooks off. */
const SWITCHES: Readonly<Record<string, RegExp>> = {
  HUSKY: /^0$/,
  HUSKY_SKIP_HOOKS: /./,
  LEFTHOOK: /^(?:0|false)$/,
  SKIP_SIMPLE_GIT_HOOKS: /./,
  GIT_EXEC_PATH: /./,
};

/** Settings that decide which hooks run, or that bring others along. */
const isHookSetting = (key: string) =>
  /^(?:core\.hookspath|hook\..+|include\.path|includeif\..+)$/i.test(key);

/** What an alias must not bring along. */
const HIDDEN = /no-veri|hookspath|hook\.\w|send-pack|\bpawl\b.*\b(?:approve|unlock)/i;

export function findBypass(command: ShellCommand, git: GitLine): Refusal | undefined {
  return bySetting(git) ?? byEnvironment(command) ?? byOption(git) ?? byConfig(git) ?? byCommand(git);
}

/** Git's own programs that do without hooks, or take the ground away from under them. */
function byCommand({ name, args }: GitLine): Refusal | undefined {
  if (name === "send-pack" || name === "http-push")
    return refuse(`\`git ${name}\` pushes without running any hook.`);
  const migrates = name === "refs" && args.some(({ text }) => text === "migrate");
  return migrates
    ? refuse("`git refs migrate` changes how branches are stored, which only a human may do.")
    : undefined;
}

function bySetting(git: GitLine): Refusal | undefined {
  if (git.execPath) return refuse("`--exec-path` makes git run programs from elsewhere.");
  for (const setting of git.settings) {
    const [key = "", ...value] = setting.split("=");
    if (isHookSetting(key)) return refuse(`\`${key}\` changes which hooks run for this command.`);
    if (/^alias\./i.test(key) && /^!|no-verify|hookspath/i.test(value.join("=")))
      return refuse("An alias defined for one command hides what it runs.");
  }
  return undefined;
}

function byEnvironment({ settings }: ShellCommand): Refusal | undefined {
  for (const [name, value] of Object.entries(settings)) {
    if (Object.hasOwn(SWITCHES, name) && SWITCHES[name]?.test(value))
      return refuse(`${name}=${value} switches hooks off.`);
    const overrides =
      (/^GIT_CONFIG_KEY_\d+$/.test(name) && isHookSetting(value)) ||
      (name === "GIT_CONFIG_PARAMETERS" && /core\.hookspath|'hook\.|include/i.test(value));
    if (overrides) return refuse(`${name} changes which hooks run.`);
  }
  return undefined;
}

function byOption({ name, args }: GitLine): Refusal | undefined {
  if (!Object.hasOwn(VERIFYING, name)) return undefined;
  const parsed = parseArguments(args, VERIFYING[name]);
  const letter = NO_VERIFY_LETTER[name];
  if (hasLong(parsed, "--no-verify", "--no-veri") || (letter && parsed.letters.has(letter)))
    return refuse(`\`git ${name}\` with --no-verify skips them.`);
  return undefined;
}

/** `git config` that writes a setting of ours; asking for it is free. */
function byConfig({ name, args }: GitLine): Refusal | undefined {
  if (name !== "config") return undefined;
  const parsed = parseArguments(args, { letters: "f", longs: ["--file", "--blob", "--type", "--default"] });
  const words = parsed.operands.map((word) => word.text);
  const [verb = ""] = words;
  const isVerb = /^(?:get|set|unset|list|edit|rename-section|remove-section)$/.test(verb);
  const [key = "", value] = isVerb ? words.slice(1) : words;
  const sections =
    verb.endsWith("-section") || hasLong(parsed, "--remove-section") || hasLong(parsed, "--rename-section");
  if (sections && /^(?:core|include|includeif\..*|hook\..*)$/i.test(key))
    return refuse(`Without the section ${key} git runs other hooks.`);
  if (/^alias\./i.test(key) && HIDDEN.test(args.map((word) => word.text).join(" ")))
    return refuse(`The alias ${key.slice("alias.".length)} would hide what it does to hooks.`);
  if (!isHookSetting(key)) return undefined;
  const writes =
    verb === "set" ||
    verb === "unset" ||
    (!isVerb && value !== undefined && !parsed.longs.some((one) => one.startsWith("--get"))) ||
    parsed.longs.some((one) => /^--(?:add|unset|unset-all|replace-all)$/.test(one));
  return writes ? refuse(`\`git config ${key}\` changes which hooks run.`) : undefined;
}
