import { machine } from "../../../src/harness/machine.ts";
import { RabbitMq } from "../brokers/rabbitmq.ts";
import { versions } from "../brokers/versions.ts";
import { installNodeRed } from "../peers/node-red.ts";
import { measureRows, type Measuring } from "./measure-rows.ts";
import { type Results, type RowResult, remaining, writeResults } from "./results.ts";
import { type Row, rowName } from "./row.ts";

export interface PlanRun extends Omit<Measuring, "rabbit"> {
  readonly plan: readonly Row[];
  /** Rows that were measured before, and are not again where nothing of them is missing. */
  readonly before: readonly RowResult[];
  /** The file that has all figures so far after each row. */
  readonly out: string;
}

/** Measures what is planned; tells its progress on the error stream. */
export async function measurePlan({ plan, before, out, ...measuring }: PlanRun): Promise<Results> {
  const left = remaining(plan, before, measuring.rounds);
  if (left.some(({ contenders }) => contenders.includes("node-red"))) await installNodeRed();
  // It takes long to start, so it is there for all rows, and only for those that need it.
  await using rabbit = left.some(({ pair }) => pair.includes("amqp")) ? await RabbitMq.start() : undefined;
  let results: Results = {
    began: new Date().toISOString(),
    machine: await machine(),
    versions: await versions(rabbit),
    planned: plan.map(rowName),
    rows: before,
    failures: [],
  };
  for await (const one of measureRows(left, { ...measuring, rabbit }, (line) => console.error(line))) {
    results =
      "error" in one
        ? { ...results, failures: [...results.failures, one] }
        : { ...results, rows: [...results.rows.filter((row) => rowName(row) !== rowName(one)), one] };
    await writeResults(out, results);
  }
  return results;
}
