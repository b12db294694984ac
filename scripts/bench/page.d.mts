export interface SuiteResult {
  suite: string;
  ok: boolean;
  output: string;
}
export const BUDGETS: { what: string; budget: string; lines: [suite: string, pattern: RegExp][] }[];
export function judge(
  results: readonly SuiteResult[],
): { what: string; budget: string; figures: string[]; verdict: string }[];
export function renderPage(results: readonly SuiteResult[], at: { date: string; machine: string }): string;
