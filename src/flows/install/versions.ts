import { Failure } from "../../model/failure.ts";
import { compareVersions, HOW_TO_GET } from "../../model/version.ts";
import type { Installation, Installed, SurfaceRequest } from "../../ports/installation.ts";

/** An older program knows less than the one that installed, and would take back what it does not know. */
export function refuseOlder({ version }: Installation, installed: Installed | undefined): void {
  if (!installed || compareVersions(version, installed.version) >= 0) return;
  throw new Failure(
    "refused",
    "older_version",
    `pawl ${installed.version} is installed here, but this is ${version}.`,
    {
      hint: `Use that version, or a newer one: ${HOW_TO_GET}`,
      details: { installed: installed.version, version },
    },
  );
}

/** The same version is not the same program: whose it is, is what the project says, and not who comes first. */
export function refuseAnother(installation: Installation, installed: Installed | undefined): void {
  const { version, package: own } = installation;
  const named = installed?.version === version ? installed.package : undefined;
  if (named === undefined || own === undefined || named === own) return;
  throw new Failure(
    "refused",
    "another_package",
    `This is pawl ${version}, but not the package that this project names in .pawl/lock.json.`,
    {
      hint: `To get that one: ${HOW_TO_GET}\nTo make this one the project's instead: pawl upgrade`,
      details: { named, own },
    },
  );
}

/** What is installed and has to be brought up to date; edited files stay and are reported. */
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
