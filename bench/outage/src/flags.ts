import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { integerFrom, oneOf } from "../../src/harness/flag-values.ts";
import type { DeliveryMode } from "../../torture/src/routes.ts";

const MODES = ["direct_hold", "shared_outbox"] as const satisfies readonly DeliveryMode[];
const BINARY = fileURLToPath(new URL("../../../apps/reference/dist/main.js", import.meta.url));
/** One to get warm in, one to compare with, and the last one. */
const LEAST_MINUTES = 3;

export const USAGE = `pnpm outage [options]
  --mode MODE     ${MODES.join(" or ")}; default ${MODES[0]}
  --minutes N     how long the target is away, at least ${LEAST_MINUTES}; default 10
  --rate N        messages a second that are offered meanwhile; default 2000
  --size N        bytes of a message; default 256
  --bridge FILE   the built bridge; default: the reference binary of this checkout
  --out FILE      where the figures go as JSON; default: nowhere
  --help`;

export interface Flags {
  readonly mode: DeliveryMode;
  readonly minutes: number;
  readonly rate: number;
  readonly size: number;
  readonly bridge: string;
  readonly out: string | undefined;
  readonly help: boolean;
}

/** @throws Error that says what is wrong with a flag */
export function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      mode: { type: "string", default: MODES[0] },
      minutes: { type: "string", default: "10" },
      rate: { type: "string", default: "2000" },
      size: { type: "string", default: "256" },
      bridge: { type: "string", default: BINARY },
      out: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  return {
    mode: oneOf("mode", values.mode, MODES),
    minutes: integerFrom(LEAST_MINUTES, "minutes", values.minutes),
    rate: integerFrom(1, "rate", values.rate),
    size: integerFrom(1, "size", values.size),
    bridge: values.bridge,
    out: values.out,
    help: values.help,
  };
}
