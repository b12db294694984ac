export interface SuiteResult {
  suite: string;
  /** When, and on what machine. */
  measured: string;
  ok: boolean;
  output: string;
}
export const BUDGETS: { what: string; budget: string; lines: [suite: string, pattern: RegExp][] }[];
export function judge(
  results: readonly SuiteResult[],
): { what: string; budget: string; figures: string[]; verdict: string }[];
export function readPage(page: string): SuiteResult[];
export function renderPage(results: readonly SuiteResult[]): string;
