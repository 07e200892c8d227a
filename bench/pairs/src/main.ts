/**
 * Measures every pair of transports against a script and against what else does such work, in turn. Prints tables, writes
 * JSON, and decides nothing. @module
 */
import { existsSync } from "node:fs";
import { verdictTable } from "../../src/report/verdict.ts";
import { parseFlags, USAGE } from "./flags.ts";
import { barVerdicts } from "./report/bars.ts";
import { tables } from "./report/tables.ts";
import { measurePlan } from "./run/measure-plan.ts";
import { readResults, type Results } from "./run/results.ts";
import { rows } from "./run/rows.ts";

const { help, tables: shown, resume, selection, ...run } = parseFlags(process.argv.slice(2));
if (help) console.log(USAGE);
else if (shown !== undefined) show(await readResults(shown));
else {
  const before = resume && existsSync(run.out) ? (await readResults(run.out)).rows : [];
  show(await measurePlan({ ...run, plan: rows(selection), before }));
  console.log(`\nwritten to ${run.out}`);
}

function show(results: Results): void {
  console.log(`${tables(results)}\n\n${verdictTable(barVerdicts(results.rows))}`);
  for (const { row, error } of results.failures) console.log(`\n${row} failed: ${error}`);
  if (results.failures.length > 0) process.exitCode = 1;
}
