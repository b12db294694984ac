import { settingAside } from "./finding-set-aside.ts";

export const findingDefer = settingAside({
  id: "finding.defer",
  to: "deferred",
  summary: "Put a finding off to later, with a reason",
  examples: ['pawl finding defer F2 --note "needs the new API, see T0012"'],
});
