import { Failure } from "../../model/failure.ts";
import type { Site, Sites } from "../../ports/sites.ts";

/** The repository whose remotes count for the state. */
export function homeSite(sites: Sites): Site {
  const found = sites.all().find((one) => one.home);
  if (found) return found;
  throw new Failure("unavailable", "home_missing", "The repository that the state belongs to is missing.", {
    hint: "Run this in that repository.",
  });
}
