import { settingAside } from "./finding-set-aside.ts";

export const findingDefer = settingAside({
  id: "finding.defer",
  to: "deferred",
  summary: "Postpone a finding, with a reason",
  examples: ['pawl finding defer F2 --note "needs the new API, see T0012"'],
});
