import { Failure } from "../../model/failure.ts";
import { compareVersions, howToGet } from "../../model/version.ts";
import type { Installation, Installed, SurfaceRequest } from "../../ports/installation.ts";

/** An older program knows less than the one that installed, and would take back what it does not know. */
export function refuseOlder({ version }: Installation, installed: Installed | undefined): void {
  if (!installed || compareVersions(version, installed.version) >= 0) return;
  throw new Failure(
    "refused",
    "older_version",
    `pawl ${installed.version} is installed here, and this is ${version}.`,
    {
      hint: `Use that version, or a newer one: ${howToGet(installed.version)}`,
      details: { installed: installed.version, version },
    },
  );
}

/** What is installed, to be brought up to date: edited files stay and are told. */
export function requestFromLedger(installation: Installation): SurfaceRequest & { before: Installed } {
  const before = installation.installed();
  if (!before)
    throw new Failure("refused", "not_installed", "pawl is not installed in the files of this repository.", {
      hint: "pawl install",
    });
  refuseOlder(installation, before);
  const { profile, agents, flags } = before;
  return { profile, agents, flags, force: false, lenient: true, before };
}
