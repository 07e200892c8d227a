import { parseArgs } from "node:util";
import { integerFrom, oneOf } from "./harness/flag-values.ts";
import { LEAST_BYTES } from "./load/ledger.ts";
import type { Settings } from "./suite/contender.ts";
import { PIECES } from "./suite/million-suite.ts";
import { type SuiteName, SUITES } from "./suite/suites.ts";

const SUITE_NAMES = Object.keys(SUITES) as readonly SuiteName[];

/** It takes as long as all others together. */
const BY_DEFAULT = SUITE_NAMES.filter((name) => name !== "million");

export const USAGE = `pnpm bench [options]
  --only NAMES      of ${SUITE_NAMES.join(", ")}; default: all but million
  --rounds N        how often each contender has its turn; default 5
  --messages N      in each measurement; default: as many as a row needs
  --sizes LIST      bytes of a message; default 256,4096
  --windows LIST    messages held at once; default 100,500
  --pieces LIST     of the million: ${PIECES.join(", ")}; default: all of them
  --profile DIR     write a CPU profile of each measured process
  --out FILE        where the figures go as JSON; default results/latest.json
  --help`;

export interface Flags extends Settings {
  readonly only: readonly SuiteName[];
  readonly out: string;
  readonly help: boolean;
}

/** @throws Error that says what is wrong with a flag */
export function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: BY_DEFAULT.join(",") },
      rounds: { type: "string", default: "5" },
      messages: { type: "string" },
      sizes: { type: "string", default: "256,4096" },
      windows: { type: "string", default: "100,500" },
      pieces: { type: "string", default: PIECES.join(",") },
      profile: { type: "string" },
      out: { type: "string", default: new URL("../results/latest.json", import.meta.url).pathname },
      help: { type: "boolean", default: false },
    },
  });
  return {
    only: values.only.split(",").map((name) => oneOf("only", name, SUITE_NAMES)),
    rounds: integerFrom(1, "rounds", values.rounds),
    messages: values.messages === undefined ? undefined : integerFrom(1, "messages", values.messages),
    sizes: values.sizes.split(",").map((size) => integerFrom(LEAST_BYTES, "sizes", size)),
    windows: values.windows.split(",").map((window) => integerFrom(1, "windows", window)),
    pieces: values.pieces.split(",").map((piece) => oneOf("pieces", piece, PIECES)),
    profileDir: values.profile,
    out: values.out,
    help: values.help,
  };
}
