/** Measures the bridge against hand-written scripts: prints tables, writes JSON, and decides nothing. @module */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseFlags, USAGE } from "./flags.ts";
import { machine } from "./harness/machine.ts";
import { verdicts } from "./report/bars.ts";
import { resultTable } from "./report/print.ts";
import { verdictTable } from "./report/verdict.ts";
import type { Measurement } from "./suite/measurement.ts";
import { SUITES } from "./suite/suites.ts";

// `pnpm bench -- --only engine` hands the dashes on.
const flags = parseFlags(process.argv.slice(2).filter((argument) => argument !== "--"));
if (flags.help) console.log(USAGE);
else await bench();

async function bench(): Promise<void> {
  const [on, began] = [await machine(), new Date().toISOString()];
  console.log(
    `${on.cores} × ${on.cpu}, ${on.memoryGb} GB, kernel ${on.kernel}, Node ${on.node}, Mosquitto ${on.mosquitto}, load ${on.load.toFixed(1)}`,
  );
  const all: Measurement[] = [];
  for (const name of flags.only) {
    const suite: Measurement[] = [];
    for await (const measurement of SUITES[name](flags)) {
      suite.push(measurement);
      console.error(`${name}: ${measurement.name} done${loopOf(measurement)}`);
    }
    all.push(...suite);
    console.log(`\n${name}: median of ${flags.rounds} [min–max]\n\n${resultTable(suite)}`);
  }
  console.log(`\n${verdictTable(verdicts(all))}`);
  await mkdir(dirname(flags.out), { recursive: true });
  await writeFile(flags.out, `${JSON.stringify({ began, machine: on, measurements: all }, rounded, 1)}\n`);
  console.log(`\nwritten to ${flags.out}`);
}

/** So that who ends a long suite early has seen what there was of it. */
function loopOf({ runs }: Measurement): string {
  const { loopP99Ms, turnP99Ms } = runs.bridge?.at(-1) ?? {};
  if (loopP99Ms === undefined) return "";
  return `, event loop p99 ${loopP99Ms.toFixed(1)} ms${turnP99Ms === undefined ? "" : `, turn p99 ${turnP99Ms.toFixed(1)} ms`}`;
}

/** Four digits are more than the machine can tell apart. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(4)) : value;
}
