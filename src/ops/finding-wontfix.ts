import { settingAside } from "./finding-set-aside.ts";

export const findingWontfix = settingAside({
  id: "finding.wontfix",
  to: "wontfix",
  summary: "Decide that a finding stays as it is, with a reason",
  examples: ['pawl finding wontfix F2 --note "the caller checks this already"'],
});
