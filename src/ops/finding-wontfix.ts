import { settingAside } from "./finding-set-aside.ts";

export const findingWontfix = settingAside({
  id: "finding.wontfix",
  to: "wontfix",
  summary: "Decide not to fix a finding, with a reason",
  examples: ['pawl finding wontfix F2 --note "the caller already checks this"'],
});
