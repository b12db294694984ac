import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanEnv, median, printRows, run } from "./helpers/measured-project.ts";
import { makeHistory } from "./helpers/signed-history.ts";

/** `pawl audit --ci` of signed merges, beside the same history without signatures. */
const MERGES = Number(process.argv[2] ?? 10_000);
const ROUNDS = 3;
const MOST_FIRST_MS = 20_000;

const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const env = cleanEnv(folder);
const audit = [process.execPath, join(process.cwd(), "dist", "pawl.cjs"), "audit", "--ci", "--json"];

function measure(repo: string, signed: boolean): number {
  const { ms, out } = run(audit, repo, env);
  const { clean, branches } = JSON.parse(out).data.audit;
  const found = branches[0].commits.filter(
    (one: { signed?: unknown }) => (one.signed !== undefined) === signed,
  );
  if (!clean || found.length !== MERGES)
    throw new Error(`${found.length} of ${MERGES} merges are as they should be`);
  return ms;
}

try {
  process.stderr.write(`making two histories of ${MERGES} merges …\n`);
  const [signed, plain] = [true, false].map((one) => makeHistory(folder, env, MERGES, one)) as [
    string,
    string,
  ];
  const first = measure(signed, true);
  const again: number[] = [];
  const without: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    without.push(measure(plain, false));
    again.push(measure(signed, true));
  }
  const unit = median(without);
  const met = printRows([
    { what: `audit of ${MERGES} merges without signatures`, ms: unit, ratio: 1 },
    {
      what: `audit of ${MERGES} signed merges, first time`,
      ms: first,
      ratio: first / unit,
      most: Math.floor((MOST_FIRST_MS / unit) * 100) / 100,
    },
    {
      what: `audit of ${MERGES} signed merges, again`,
      ms: median(again),
      ratio: median(again) / unit,
      most: 2,
    },
  ]);
  process.exitCode = met ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
