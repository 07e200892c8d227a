import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Machine } from "../../../src/harness/machine.ts";
import type { Run } from "../../../src/suite/measurement.ts";
import type { Contender } from "./contender.ts";
import { type Row, rowName } from "./row.ts";

/** What was measured of one row: each contender's runs, round by round. */
export interface RowResult extends Omit<Row, "contenders"> {
  readonly runs: Readonly<Partial<Record<Contender, readonly Run[]>>>;
}

export interface Failure {
  readonly row: string;
  readonly error: string;
}

/** The figures of one command, as they are kept. */
export interface Results {
  readonly began: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** The rows that were to be measured. */
  readonly planned: readonly string[];
  readonly rows: readonly RowResult[];
  readonly failures: readonly Failure[];
}

/** @throws Error that says how figures come into the file, when it cannot be read */
export async function readResults(file: string): Promise<Results> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Results;
  } catch (error) {
    throw new Error(`no figures: pnpm bench:pairs --out ${file} makes them`, { cause: error });
  }
}

/** The file is whole at every moment. */
export async function writeResults(file: string, results: Results): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.part`, `${JSON.stringify(results, rounded, 1)}\n`);
  await rename(`${file}.part`, file);
}

/** The rows that earlier figures do not have, or not of every contender in as many rounds. */
export function remaining(plan: readonly Row[], done: readonly RowResult[], rounds: number): readonly Row[] {
  const known = new Map(done.map((row) => [rowName(row), row.runs]));
  return plan.filter((row) => {
    const runs = known.get(rowName(row));
    return row.contenders.some((contender) => (runs?.[contender]?.length ?? 0) < rounds);
  });
}

/** Four digits are more than the machine can tell apart. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(4)) : value;
}
