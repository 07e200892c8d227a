/** Measures a few rows anew and holds their ratios against a stored baseline; ends with code 1 when one is worse. @module */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { integerFrom, oneOf } from "../../../src/harness/flag-values.ts";
import { table } from "../../../src/harness/table.ts";
import { PAIRS } from "../pair.ts";
import { measurePlan } from "../run/measure-plan.ts";
import { MESSAGES, WARM_UP } from "../run/measure-rows.ts";
import { readResults } from "../run/results.ts";
import { rows } from "../run/rows.ts";
import { compare, passes, TOLERANCE } from "./compare.ts";

const USAGE = `pnpm bench:check [options]
  measures again, about three minutes, and compares ratios with a baseline; fails when one is worse by ${TOLERANCE * 100} %
  --pairs LIST      of ${PAIRS.join(", ")}; default: mqtt-mqtt,amqp-amqp,mqtt-amqp,http-http
  --rounds N        default 3
  --messages N      default ${MESSAGES}
  --baseline FILE   figures of pnpm bench:pairs; default results/pairs.json
  --fresh FILE      measures nothing, takes these for the new figures
  --out FILE        where the new figures go; default results/pairs-check.json
  --help`;

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "mqtt-mqtt,amqp-amqp,mqtt-amqp,http-http" },
    rounds: { type: "string", default: "3" },
    messages: { type: "string", default: String(MESSAGES) },
    baseline: { type: "string", default: results("pairs.json") },
    fresh: { type: "string" },
    out: { type: "string", default: results("pairs-check.json") },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(USAGE);
else await check();

async function check(): Promise<void> {
  const baseline = await readResults(values.baseline);
  const fresh = values.fresh === undefined ? await measure() : await readResults(values.fresh);
  const findings = compare(baseline, fresh);
  const cells = findings.map(({ row, what, baseline: then, fresh: now, verdict }) => [
    row,
    what,
    Number.isNaN(then) ? "–" : then.toFixed(2),
    Number.isNaN(now) ? "–" : now.toFixed(2),
    verdict === "worse" || verdict === "missing" ? verdict.toUpperCase() : verdict,
  ]);
  console.log(table(["row", "what", "baseline", "now", ""], cells));
  const good = passes(findings);
  console.log(good ? "\nas good as the baseline" : "\nworse than the baseline, or not to be compared with it");
  process.exitCode = good ? 0 : 1;
}

async function measure() {
  const plan = rows({
    pairs: values.pairs.split(",").map((name) => oneOf("pairs", name, PAIRS)),
    sizes: undefined,
    windows: undefined,
    modes: ["direct_hold"],
    peers: [],
    delay: "none",
    all: false,
  });
  return measurePlan({
    plan,
    before: [],
    rounds: integerFrom(1, "rounds", values.rounds),
    messages: integerFrom(10, "messages", values.messages),
    warmUp: WARM_UP,
    pacedSeconds: 0,
    profileDir: undefined,
    out: values.out,
  });
}

function results(name: string): string {
  return fileURLToPath(new URL(`../../../results/${name}`, import.meta.url));
}
