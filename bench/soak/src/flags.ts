import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { integerFrom } from "../../src/harness/flag-values.ts";

const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const BINARY = local("../../../apps/reference/dist/main.js");
const RESULTS = local("../../results/soak.json");

export const USAGE = `pnpm soak [options]
  --minutes N     how long everything goes on at once; default 60
  --rate N        plain messages a second over all routes; default 70
  --seed TEXT     repeats the troubles of a former run; default: a random one, which is printed
  --bridge FILE   the built bridge; default: the reference binary of this checkout
  --keep          keep logs and stores, also when nothing is wrong
  --out FILE      where the figures go as JSON; default: bench/results/soak.json
  --help`;

export interface Flags {
  readonly minutes: number;
  readonly rate: number;
  readonly seed: string;
  readonly bridge: string;
  readonly keep: boolean;
  readonly out: string;
  readonly help: boolean;
}

/** @throws Error that says what is wrong with a flag */
export function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "60" },
      rate: { type: "string", default: "70" },
      seed: { type: "string", default: String(randomInt(1_000_000_000)) },
      bridge: { type: "string", default: BINARY },
      keep: { type: "boolean", default: false },
      out: { type: "string", default: RESULTS },
      help: { type: "boolean", default: false },
    },
  });
  return {
    ...values,
    minutes: integerFrom(1, "minutes", values.minutes),
    rate: integerFrom(1, "rate", values.rate),
  };
}
