/**
 * An address without the name and password that somebody may have put into it: those are nobody else's business, and a
 * renewed token is not another place. `hooks/rules.sh` does the same with the shell's own words.
 */
export function plainAddress(address: string): string {
  const [, scheme, authority, rest] = /^((?:https?|ftps?):\/\/)([^/?#]*)(.*)$/s.exec(address) ?? [];
  if (scheme === undefined || authority === undefined) return address;
  return `${scheme}${authority.slice(authority.lastIndexOf("@") + 1)}${rest}`;
}

/** The path that an address names on this machine; undefined when it leads somewhere else. */
export function localPath(address: string): string | undefined {
  // Git takes what follows for a path, a host's name included, and reads it as an address's escapes say.
  const file = /^file:\/\/(.*)$/s.exec(address)?.[1];
  if (file !== undefined) return unescaped(file.startsWith("/") ? file : `/${file}`);
  if (/^[A-Za-z]:[\\/]/.test(address)) return address;
  // As git reads it: a colon before any slash separates a host from a path there.
  return /^[^/]*:/.test(address) ? undefined : address;
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** `ext::…` and its like: whatever such a program says is what somebody wrote down, not what a repository has. */
export const helperOf = (address: string) => /^([A-Za-z0-9][A-Za-z0-9+.-]*)::/.exec(address)?.[1];

/** What a setting of a way begins with that comes from the shell's environment. */
export const FROM_SHELL = "environment ";
