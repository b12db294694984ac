import type { LoggedEvent, Reader } from "../ports/ports.ts";

/** Operations that write to the state only to record an installation. */
const INSTALLING = ["install", "uninstall", "upgrade", "doctor", "remote.trust", "remote.forget"];

/**
 * Whether the state only records that pawl was installed, so that it can go when pawl goes. `paths` are all
 * files of the state; one that pawl does not know belongs to somebody, so the state stays.
 */
export function holdsOnlyInstallation(reader: Reader, paths: readonly string[]): boolean {
  const { records, problems } = reader.repositories();
  const known = new Set(records.map((one) => one.path));
  return (
    problems.length === 0 &&
    paths.every((path) => known.has(path) || /^events\/[^/]+\/[^/]+\.jsonl$/.test(path)) &&
    records.every(({ value }) => value.home && value.base_branch === undefined) &&
    reader.events({ limit: Number.MAX_SAFE_INTEGER }).every(isInstalling)
  );
}

const isInstalling = ({ event }: LoggedEvent) => INSTALLING.includes(event);
