import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { integerFrom } from "../../src/harness/flag-values.ts";

const BINARY = fileURLToPath(new URL("../../../apps/reference/dist/main.js", import.meta.url));
const SEEDS = 2 ** 32;

export const USAGE = `pnpm compare [options]
  --seed TEXT      the scenarios of a former run; default: a random one, which is printed
  --scenarios N    how many; default 200
  --from N         the number of the first; default 1
  --bridge FILE    the program of the bridge; default: the reference binary of this checkout, as it was built
  --out FILE       where the figures go as JSON; default: nowhere
  --help`;

export interface Flags {
  readonly seed: string;
  readonly scenarios: number;
  readonly from: number;
  readonly bridge: string;
  readonly out: string | undefined;
  readonly help: boolean;
}

export function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string" },
      scenarios: { type: "string", default: "200" },
      from: { type: "string", default: "1" },
      bridge: { type: "string", default: BINARY },
      out: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  return {
    seed: values.seed ?? String(randomInt(SEEDS)),
    scenarios: integerFrom(1, "scenarios", values.scenarios),
    from: integerFrom(1, "from", values.from),
    bridge: values.bridge,
    out: values.out,
    help: values.help,
  };
}
